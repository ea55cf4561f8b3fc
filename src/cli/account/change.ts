// `pulsegate account add` and `account update`.
import { addressesOfText } from '../../core/accounts/access/address-list.js';
import { type Contacts, changedTags } from '../../core/accounts/fields/contacts.js';
import { withoutUndefined } from '../../http/fields.js';
import { unlessChangedMeanwhile, worded } from '../shared/api.js';
import { notFound } from '../shared/command.js';
import type { Group, ValuesOf } from '../shared/group.js';
import { ACCOUNT_LIMITS, parseExpiry, requireChange, toLimits } from '../shared/options.js';
import { PASSWORD_STDIN } from '../shared/prompt.js';
import { ACCOUNT, collectTag, findAccount } from './find.js';
import { choosePassword, printCredentials } from './link.js';

const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
const SCHEDULE_HELP =
  'days and hours at which the account may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
const ALLOWED_HELP =
  'client addresses, networks or countries from which the account may log in: 203.0.113.0/24, asn:64500, country:de';
const EXIT_HELP = 'exit by which its sessions leave (pulsegate exit list)';

/** Splits `a, b` as well as repeated options. */
const readAddresses = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...addressesOfText(text),
];

/** The options of `add` and `update`; the help of an update says how a value is removed. */
const fieldOptions = (use: 'add' | 'update') =>
  ({
    '--generate': 'generate a random password and print it once',
    ...PASSWORD_STDIN,
    '--email <address>': 'e-mail address for notices to the player',
    '--telegram <chat>': 'Telegram chat id for notices to the player',
    '--language <language>': { help: 'language of notices to the player', choices: ['zh', 'en', ''] },
    '--remarks <text>': `notes about the account${use === 'add' ? '' : '; "" removes them'}`,
    '--expires <when>': {
      help: 'expiry: never, a duration from now (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)',
      read: parseExpiry,
    },
    '--tag <tag>': { help: 'add a tag (repeatable)', read: collectTag },
    '--allowed-clients <list>': {
      help:
        use === 'add' ? `${ALLOWED_HELP}; default: everywhere` : `replace the ${ALLOWED_HELP}; "" allows all`,
      read: readAddresses,
    },
    '--schedule <text>': use === 'add' ? SCHEDULE_HELP : `${SCHEDULE_HELP}; "" allows all`,
    ...ACCOUNT_LIMITS,
    '--exit <name>': use === 'add' ? EXIT_HELP : `${EXIT_HELP}; "" for the default`,
  }) as const;

/** An empty text removes a value. */
const orNull = <Text extends string>(text: Text | undefined) =>
  text === '' ? null : (text as Exclude<Text, ''> | undefined);

/** Returns the fields that the options give and that `add` and `update` treat alike. */
function fieldsOf(given: ValuesOf<ReturnType<typeof fieldOptions>>) {
  const { email, telegram, language, allowedClients } = given;
  return {
    remarks: orNull(given.remarks),
    contacts: withoutUndefined<Partial<Contacts>>({
      email: orNull(email),
      telegram: orNull(telegram),
      language: orNull(language),
    }),
    allowedClients,
    schedule: orNull(given.schedule),
    exit: orNull(given.exit),
    expiresAt: given.expires,
    limits: toLimits(given),
  };
}

/** Says refusals of a change that the API has no sentence for. @param texts more of them, as for `worded` */
export function wordedAccount<Answer>(
  answer: Promise<Answer>,
  texts: Parameters<typeof worded>[1] = {},
): Promise<Answer> {
  return worded(answer, {
    'body.username too-short': 'User name and password must not be empty.',
    'body.username': 'The user name must be 1 to 255 bytes of UTF-8 without control characters.',
    'body.password': 'The password must be 1 to 255 bytes of UTF-8 and not only white space.',
    'username-taken': 'An account with this user name already exists.',
    ...texts,
  });
}

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
