// `pulsegate account update`.
import { changedTags } from '../../core/accounts/fields/contacts.js';
import { unlessChangedMeanwhile } from '../shared/api.js';
import type { Group } from '../shared/group.js';
import { requireChange } from '../shared/options.js';
import { findAccount } from './find.js';
import { choosePassword, printCredentials } from './link.js';
import {
  ACCOUNT,
  AUTHORIZE_HELP,
  collectTag,
  fieldOptions,
  fieldsOf,
  readAddresses,
  wordedAccount,
} from './options.js';

export function addUpdate(account: Group): void {
  account
    .command('update', 'update an account; fields you do not give stay as they are', {
      ...ACCOUNT,
      ...fieldOptions('update'),
      '--password': 'prompt for a new password',
      '--enable': 'allow logins',
      '--disable': 'refuse logins and end live sessions',
      '--untag <tag>': { help: 'remove a tag (repeatable)', read: collectTag },
      '--authorize <addresses>': { help: `add ${AUTHORIZE_HELP}`, read: readAddresses },
      '--authorized-addresses <addresses>': {
        help: `replace the ${AUTHORIZE_HELP}; "" removes all`,
        read: readAddresses,
      },
    })
    .examples(
      'account update player --expires 30d',
      'account update player --authorize 203.0.113.7',
      'account update player --allowed-clients 203.0.113.0/24',
      'account update player --disable',
    )
    .answers(async (run, { account: nameOrId, ...given }) => {
      const isEnabled = requireChange('account update', given);
      const { tag, untag, authorize, authorizedAddresses } = given;
      const isNewPassword = given.password || given.generate || given.passwordStdin;
      const chosen = isNewPassword ? await choosePassword(run.io, given) : undefined;
      const fields = { ...fieldsOf(given), isEnabled, password: chosen?.password };
      const updated = await unlessChangedMeanwhile(async () => {
        const { id, etag: ifMatch, ...stored } = await findAccount(run, nameOrId);
        const body = {
          ...fields,
          tags: (tag ?? untag) && changedTags(stored.tags, { add: tag ?? [], remove: untag ?? [] }),
          authorizedAddresses: (authorize ?? authorizedAddresses) && [
            ...(authorizedAddresses ?? stored.authorizedAddresses),
            ...(authorize ?? []),
          ],
        };
        return wordedAccount(run.call('PATCH /accounts/{id}', { params: { id }, body, ifMatch }));
      });
      if (chosen !== undefined) return printCredentials(run, given, { ...updated, ...chosen });
      return [updated, `Updated ${updated.username}.`];
    });
}
