// Options that commands of accounts share, and what they ask of the API.
import { extname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { FILE_FORMATS, type FileFormat } from '../../account-files/formats.js';
import { addressesOfText } from '../../core/accounts/access/address-list.js';
import { type Contacts, isValidTag, TAG_RULE } from '../../core/accounts/fields/contacts.js';
import { isTimeZone } from '../../core/time/time-zone.js';
import { withoutUndefined } from '../../http/fields.js';
import { worded } from '../shared/api.js';
import type { ValuesOf } from '../shared/group.js';
import { ACCOUNT_LIMITS, toLimits } from '../shared/limit-options.js';
import { parseExpiry } from '../shared/options.js';
import { PASSWORD_STDIN } from '../shared/prompt.js';

export const ACCOUNT = { '<account>': 'user name or id' } as const;

export const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
const SCHEDULE_HELP =
  'days and hours at which the account may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
const ALLOWED_HELP =
  'client addresses, networks or countries from which the account may log in: 203.0.113.0/24, asn:64500, country:de';
const EXIT_HELP = 'exit by which its sessions leave (pulsegate exit list)';

/** Splits `a, b` as well as repeated options. */
export const readAddresses = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...addressesOfText(text),
];

/** A repeatable option: `--tag vip --tag shop-2`. */
export function collectTag(tag: string, before: readonly string[] = []): readonly string[] {
  if (!isValidTag(tag)) throw new InvalidArgumentError(`${TAG_RULE.replace(/^a/, 'A')}.`);
  return [...before, tag];
}

/** The options of `add` and `update`; the help of an update says how a value is removed. */
export const fieldOptions = (use: 'add' | 'update') =>
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
export function fieldsOf(given: ValuesOf<ReturnType<typeof fieldOptions>>) {
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

export const FORMAT_OPTION = {
  '--format <format>': { help: 'file format (default: by file extension)', choices: FILE_FORMATS },
} as const;

export function parseZone(zone: string): string {
  if (!isTimeZone(zone))
    throw new InvalidArgumentError('Use an IANA time zone such as Asia/Shanghai or UTC.');
  return zone;
}

/** Returns the given format, else that of the file's extension. */
export function formatOf(file: string | undefined, given: FileFormat | undefined): FileFormat {
  if (given) return given;
  switch (extname(file ?? '').toLowerCase()) {
    case '.json':
      return 'json';
    case '.ini':
      return 'ccproxy';
    default:
      return 'csv';
  }
}
