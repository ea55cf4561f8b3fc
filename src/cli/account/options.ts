// Options that `pulsegate account add` and `update` share.
import { type Command, Option } from 'commander';
import { addressesOfText, textOfAddresses } from '../../core/accounts/access/address-list.js';
import type { AccountFields, FieldName, GivenFields } from '../../core/accounts/fields/account-fields.js';
import type { Contacts } from '../../core/accounts/fields/contacts.js';

export const EXPIRES_HELP =
  'expiry: never, a duration from now (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)';

export const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
const SCHEDULE_HELP =
  'days and hours at which the account may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
const ALLOWED_HELP = 'client addresses or networks from which the account may log in';

/** Splits `a, b` as well as repeated options. */
export const readAddresses = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...addressesOfText(text),
];

/** A field that one option sets and one line of `account show` shows. */
interface PlainField<Value> {
  readonly flags: string;
  readonly help: Readonly<Record<'add' | 'update', string>>;
  /** Left out: the text itself. An empty text removes the value. */
  readonly read?: (text: string, before?: Value) => Value;
  readonly label: string;
  words(value: Value, timeZone: string): string;
}

const PLAIN_FIELDS = {
  allowedClients: {
    flags: '--allowed-clients <addresses>',
    help: {
      add: `${ALLOWED_HELP}; default: everywhere`,
      update: `replace the ${ALLOWED_HELP}; "" allows all`,
    },
    read: readAddresses,
    label: 'allowed clients',
    words: (list) => textOfAddresses(list) || 'all',
  },
  schedule: {
    flags: '--schedule <text>',
    help: { add: SCHEDULE_HELP, update: `${SCHEDULE_HELP}; "" allows all` },
    label: 'schedule',
    words: (schedule, timeZone) => (schedule === null ? 'always' : `${schedule} (${timeZone})`),
  },
  exit: {
    flags: '--exit <name>',
    help: {
      add: 'exit by which its sessions leave (pulsegate exit list)',
      update: 'exit by which its sessions leave (pulsegate exit list); "" for the default',
    },
    label: 'exit',
    words: (exit) => exit ?? 'default',
  },
} as const satisfies { readonly [Name in FieldName]?: PlainField<AccountFields[Name]> };
type PlainName = keyof typeof PLAIN_FIELDS;
const PLAIN = Object.entries(PLAIN_FIELDS) as [PlainName, PlainField<unknown>][];

export interface FieldOptions extends ContactOptions, Pick<GivenFields, PlainName> {
  remarks?: string;
  expires?: string;
  tag?: readonly string[];
}

export function withPlainFields(command: Command, use: 'add' | 'update'): Command {
  for (const [, { flags, help, read = String }] of PLAIN) command.option(flags, help[use], read);
  return command;
}

/** Returns the plain fields that the options give. */
export const plainFieldsOf = (options: FieldOptions): Pick<GivenFields, PlainName> =>
  Object.fromEntries(PLAIN.map(([name]) => [name, options[name] === '' ? null : options[name]]));

/** Each plain field of an account with its label. */
export const plainLines = (
  shown: Pick<AccountFields, PlainName>,
  timeZone: string,
): (readonly [string, string])[] =>
  PLAIN.map(([name, { label, words }]) => [label, words(shown[name], timeZone)]);

interface ContactOptions {
  email?: string;
  telegram?: string;
  language?: string;
}

export function withContactOptions(command: Command): Command {
  return command
    .option('--email <address>', 'e-mail address for notices to the player')
    .option('--telegram <chat>', 'Telegram chat id for notices to the player')
    .addOption(
      new Option('--language <language>', 'language of notices to the player').choices(['zh', 'en', '']),
    );
}

/** An empty text removes a contact. */
export function contactsOf({ email, telegram, language }: ContactOptions): Partial<Contacts> {
  return {
    ...(email === undefined ? {} : { email: email || null }),
    ...(telegram === undefined ? {} : { telegram: telegram || null }),
    ...(language === undefined ? {} : { language: (language || null) as Contacts['language'] }),
  };
}

export function withPasswordOptions(command: Command): Command {
  return command
    .option('--generate', 'generate a random password and print it once')
    .option('--password-stdin', 'read the password from stdin');
}
