// The reasons for failed and skipped lines: a code with values for programs, and an English text.
import { ADDRESS_TEXTS } from '../core/accounts/access/address-list.js';
import { SCHEDULE_RULE } from '../core/accounts/access/schedule.js';
import { fillText } from '../core/text.js';

export const REASON_TEXTS = {
  'no-username': 'the user name is missing',
  username: 'the user name must be 1 to 255 bytes without control characters',
  password: 'the password must be a text of 1 to 255 bytes',
  'password-hash': 'passwordHash is neither sha256$salt$digest nor 64 hexadecimal digits',
  'link-hash': 'linkHash is not sha256$salt$digest',
  'two-passwords': 'give either password or passwordHash, not both',
  'no-password': 'a new account needs a password or a passwordHash',
  'is-enabled': 'isEnabled is neither true nor false',
  remarks: 'the remarks cannot be stored',
  tags: 'the tags must be at most 16 words of 1 to 32 characters, separated by commas',
  contacts: 'email must be one address, telegram a chat id or @name, language zh or en',
  plan: 'plan must be a name of 1 to 64 characters, daysFromFirstLogin a whole number from 1 to 36500',
  ...ADDRESS_TEXTS,
  addresses: '{field} must be text, or a list of texts',
  schedule: `schedule must be ${SCHEDULE_RULE}`,
  date: 'a date must be of the form 2026-12-31T23:59:59 (UTC), 2026-12-31 23:59 or 2026/12/31, in the years 0001 to 9999',
  id: 'id is not a GUID',
  usage: 'the usage must be a whole number of bytes, 0 or more',
  limit: '{field} must be a whole number of 1 or more',
  'per-minute': '{field} must be a whole number from 0 (any number) to 10000000',
  choice: '{field} is none of {allowed}',
  text: '{field} is not a text',
  'no-egress-class': 'the configuration has no such egress class',
  'no-exit': 'there is no such exit, or the seller of the account has not been given it',
  exit: 'exit must be 1 to 64 letters, digits, dots, dashes and underscores',
  'egress-scope':
    'the token lacks the scope egress:write for its egress class, its exit or its limits per minute',
  exists: 'the account already exists',
  twice: 'the file contains this user name twice',
  'taken-meanwhile': 'another account took the user name during the import',
  'removed-meanwhile': 'the account was removed during the import',
  'not-added': 'not added: the database could not be written',
  'not-replaced': 'not replaced: the database could not be written',
  'not-completed': 'limits and usage were not imported: the database could not be written',
  'over-budget-accounts':
    'not imported: with the lines written together with it, it needs more than the {left} accounts left in the budget',
  'over-budget-days':
    'not imported: with the lines written together with it, it needs more than the {left} days left in the budget',
  'over-budget-bytes':
    'not imported: with the lines written together with it, it needs more than the {left} bytes left in the budget',
  'not-csv': 'invalid CSV; nothing after this line was read',
  'no-heading': 'the header row has no column username; it has {found}; nothing was read',
  encoding: 'invalid {encoding} text; nothing after this line was read',
  'too-large': 'the file is larger than 16 MiB; nothing was read',
  'not-json': 'invalid JSON; nothing after this line was read',
  'not-json-array': 'not a JSON array of objects; nothing after this line was read',
  'json-end': 'the JSON array is not closed',
  'json-length': 'an account is longer than 64 KiB; nothing after this line was read',
} as const;

export type ReasonCode = keyof typeof REASON_TEXTS;

export interface Reason {
  readonly code: ReasonCode;
  /** The values for the placeholders of the text. */
  readonly values: Readonly<Record<string, string>>;
}

export function because(code: ReasonCode, values: Reason['values'] = {}): Reason {
  return { code, values };
}

export function reasonText({ code, values }: Reason): string {
  return fillText(REASON_TEXTS[code], values);
}
