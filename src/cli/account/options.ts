// Options that `pulsegate account add` and `update` share.
import { type Command, Option } from 'commander';
import { addressesOfText } from '../../core/accounts/access/address-list.js';
import type { Contacts } from '../../core/accounts/fields/contacts.js';

export const EXPIRES_HELP =
  'expiry: never, a duration from now (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)';

export const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
export const SCHEDULE_HELP =
  'days and hours at which the account may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
export const ALLOWED_HELP = 'client addresses or networks from which the account may log in';

/** Splits `a, b` as well as repeated options. */
export const readAddresses = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...addressesOfText(text),
];

export interface FieldOptions extends ContactOptions {
  remarks?: string;
  expires?: string;
  tag?: readonly string[];
  allowedClients?: readonly string[];
  schedule?: string;
}

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
