// `pulsegate account add` and `account update`.
import { addressesOfText } from '../../core/accounts/access/address-list.js';
import { CONTACT_LANGUAGES, changedTags } from '../../core/accounts/fields/contacts.js';
import { unlessChangedMeanwhile } from '../shared/api.js';
import { notFound } from '../shared/command.js';
import type { Group } from '../shared/group.js';
import { ACCOUNT_LIMITS, enabling, expiry } from '../shared/options.js';
import { choice, type Described, madeOf, param, repeated } from '../shared/params.js';
import { PASSWORD_STDIN } from '../shared/prompt.js';
import { ACCOUNT_NAME, findAccount, tagsOption } from './find.js';
import { choosePassword, printCredentials } from './link.js';

const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
const SCHEDULE_HELP =
  'days and hours at which the account may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
const ALLOWED_HELP =
  'client addresses, networks or countries from which the account may log in: 203.0.113.0/24, asn:64500, country:de';

/** An empty text removes a value. */
const text = (described: Described) => param(described, (given) => (given === '' ? null : given));
/** Splits `a, b` as well as repeated options. */
const addresses = (described: Described) => repeated(described, addressesOfText);

const PASSWORD = {
  generate: '--generate  generate a random password and print it once',
  ...PASSWORD_STDIN,
} as const;

/** The fields that `add` and `update` set alike; the help of an update says how a value is removed. */
const fields = (use: 'add' | 'update') => {
  const onUpdate = (words: string): string => (use === 'update' ? words : '');
  return {
    contacts: {
      email: text('--email <address>  e-mail address for notices to the player'),
      telegram: text('--telegram <chat>  Telegram chat id for notices to the player'),
      language: choice('--language <language>  language of notices to the player', [
        ...CONTACT_LANGUAGES,
        '',
      ]).finds(async (_, language) => (language === '' ? null : language)),
    },
    remarks: text(`--remarks <text>  notes about the account${onUpdate('; "" removes them')}`),
    expiresAt: expiry(
      '--expires <when>  expiry: never, a duration from now (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)',
    ),
    tags: tagsOption('--tag <tag>  add a tag (repeatable)'),
    allowedClients: addresses(
      use === 'add'
        ? `--allowed-clients <list>  ${ALLOWED_HELP}; default: everywhere`
        : `--allowed-clients <list>  replace the ${ALLOWED_HELP}; "" allows all`,
    ),
    schedule: text(`--schedule <text>  ${SCHEDULE_HELP}${onUpdate('; "" allows all')}`),
    limits: ACCOUNT_LIMITS,
    exit: text(
      `--exit <name>  exit by which its sessions leave (pulsegate exit list)${onUpdate('; "" for the default')}`,
    ),
  };
};

export function addAdd(account: Group): void {
  account
    .command('add', 'add an account and print its proxy link', {
      chosen: madeOf(PASSWORD, (given, { io }) => choosePassword(io, given)),
      ...fields('add'),
      username: '<name>  user name',
      plan: '--plan <name>  name of a plan, which sets expiry and limits; --expires takes precedence',
      isEnabled: madeOf({ disabled: '--disabled  create the account disabled' }, ({ disabled }) => !disabled),
      authorizedAddresses: addresses(`--authorize <addresses>  ${AUTHORIZE_HELP}`),
    })
    .examples(
      'account add player --generate --expires 30d',
      'account add player --password-stdin < password.txt',
    )
    .answers(
      async (run, { chosen, ...fields }) => {
        const { plan, expiresAt } = fields;
        const body = { ...fields, password: chosen.password };
        const refusals = plan === undefined ? {} : { 'body.plan': notFound('plan', plan) };
        const { account: added } = await run.call('POST /accounts', { body }, refusals);
        // Without an expiry a new account gets that of its plan.
        const removing =
          plan !== undefined && expiresAt === null
            ? run.call('PATCH /accounts/{id}', { params: { id: added.id }, body: { expiresAt } })
            : undefined;
        // The password is printed in any case: it is not stored where it can be read again.
        await removing?.catch(() => undefined);
        await printCredentials(run, { ...added, ...chosen });
        await removing;
      },
      () => true,
    );
}

export function addUpdate(account: Group): void {
  account
    .command(
      'update',
      'update an account; fields you do not give stay as they are',
      PASSWORD,
      fields('update'),
      {
        ...ACCOUNT_NAME,
        password: '--password  prompt for a new password',
        isEnabled: enabling('--enable  allow logins', '--disable  refuse logins and end live sessions'),
        untag: tagsOption('--untag <tag>  remove a tag (repeatable)'),
        authorize: addresses(`--authorize <addresses>  add ${AUTHORIZE_HELP}`),
        authorizedAddresses: addresses(
          `--authorized-addresses <addresses>  replace the ${AUTHORIZE_HELP}; "" removes all`,
        ),
      },
    )
    .examples(
      'account update player --expires 30d',
      'account update player --authorize 203.0.113.7',
      'account update player --allowed-clients 203.0.113.0/24',
      'account update player --disable',
    )
    .needs('change')
    .answers(async (run, { nameOrId, ...given }) => {
      const { generate, passwordStdin, password, untag, authorize, ...fields } = given;
      const { tags, authorizedAddresses } = fields;
      const isNewPassword = password || generate || passwordStdin;
      const chosen = isNewPassword ? await choosePassword(run.io, given) : undefined;
      const updated = await unlessChangedMeanwhile(async () => {
        const { id, etag: ifMatch, ...stored } = await findAccount(run, nameOrId);
        const body = {
          ...fields,
          password: chosen?.password,
          tags: (tags ?? untag) && changedTags(stored.tags, { add: tags ?? [], remove: untag ?? [] }),
          authorizedAddresses: (authorize ?? authorizedAddresses) && [
            ...(authorizedAddresses ?? stored.authorizedAddresses),
            ...(authorize ?? []),
          ],
        };
        return run.call('PATCH /accounts/{id}', { params: { id }, body, ifMatch });
      });
      if (chosen !== undefined) return printCredentials(run, { ...updated, ...chosen });
      return [updated, `Updated ${updated.username}.`];
    });
}
