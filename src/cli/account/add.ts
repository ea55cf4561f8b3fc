// `pulsegate account add`.
import { notFound } from '../shared/command.js';
import type { Group } from '../shared/group.js';
import { choosePassword, printCredentials } from './link.js';
import { AUTHORIZE_HELP, fieldOptions, fieldsOf, readAddresses, wordedAccount } from './options.js';

export function addAdd(account: Group): void {
  account
    .command('add', 'add an account and print its proxy link', {
      '<name>': 'user name',
      ...fieldOptions('add'),
      '--plan <name>': 'name of a plan, which sets expiry and limits; --expires takes precedence',
      '--disabled': 'create the account disabled',
      '--authorize <addresses>': { help: AUTHORIZE_HELP, read: readAddresses },
    })
    .examples(
      'account add player --generate --expires 30d',
      'account add player --password-stdin < password.txt',
    )
    .answers(
      async (run, given) => {
        const { name: username, plan, expires, tag: tags, authorize: authorizedAddresses } = given;
        const chosen = await choosePassword(run.io, given);
        const { password } = chosen;
        const body = {
          ...{ username, password, tags, plan, authorizedAddresses },
          isEnabled: !given.disabled,
          ...fieldsOf(given),
        };
        const { account: added } = await wordedAccount(
          run.call('POST /accounts', { body }),
          plan === undefined ? {} : { 'body.plan': notFound('plan', plan) },
        );
        // Without an expiry a new account gets that of its plan.
        const removing =
          plan !== undefined && expires === null
            ? run.call('PATCH /accounts/{id}', { params: { id: added.id }, body: { expiresAt: null } })
            : undefined;
        // The password is printed in any case: it is not stored where it can be read again.
        await removing?.catch(() => undefined);
        await printCredentials(run, given, { ...added, ...chosen });
        await removing;
      },
      () => true,
    );
}
