// Why a line of a file is no account, or was left alone: a code with its values for programs, and an English text.

export const REASON_TEXTS = {
  'no-username': 'there is no user name',
  username: 'a user name is 1 to 255 bytes without control characters',
  password: 'a password is a text of 1 to 255 bytes',
  'password-hash': 'passwordHash is neither sha256$salt$digest nor 64 hexadecimal digits',
  'two-passwords': 'either password or passwordHash, not both',
  'no-password': 'a new account needs a password or a passwordHash',
  'is-enabled': 'isEnabled is neither true nor false',
  remarks: 'the remarks cannot be stored',
  tags: 'the tags are not at most 16 words of 1 to 32 characters, with commas between',
  date: 'a date is not of the form 2026-12-31T23:59:59 (UTC), 2026-12-31 23:59 or 2026/12/31, from the year 0001 to 9999',
  id: 'id is not a GUID',
  usage: 'usage is a whole number of bytes, 0 or more',
  limit: '{field} is not a whole number from 1 on',
  'quota-period': 'quotaPeriod is none of {allowed}',
  'egress-class': 'egressClass is not a name',
  'no-egress-class': 'the configuration has no such egress class',
  'egress-scope': 'the token lacks the scope egress:write for its egress class',
  exists: 'it exists already',
  twice: 'the file has this user name twice',
  'taken-meanwhile': 'the user name was taken meanwhile',
  'removed-meanwhile': 'the account was removed meanwhile',
  'not-added': 'not added: the database could not be written',
  'not-replaced': 'not replaced: the database could not be written',
  'not-completed': 'its limits and usage were not taken over: the database could not be written',
  'not-csv': 'this is not valid CSV; nothing after it was read',
  'no-heading':
    'no column is headed username (or 用户名, 账号); the first line has {found}; nothing was read',
  encoding: 'this is not text in {encoding}; nothing after that was read',
  'too-large': 'the file is larger than 16 MiB; nothing of it was read',
  'not-json': 'this is not valid JSON; nothing after it was read',
  'not-json-array': 'this is not a JSON array of objects; nothing after it was read',
  'json-end': 'the JSON array does not end; nothing after it was read',
  'json-length': 'an account is longer than 64 KiB; nothing after it was read',
} as const;

export type ReasonCode = keyof typeof REASON_TEXTS;
export const REASON_CODES = Object.keys(REASON_TEXTS) as [ReasonCode, ...ReasonCode[]];

export interface Reason {
  readonly code: ReasonCode;
  /** What stands in the braces of its text. */
  readonly values: Readonly<Record<string, string>>;
}

export function because(code: ReasonCode, values: Reason['values'] = {}): Reason {
  return { code, values };
}

export function reasonText({ code, values }: Reason): string {
  return REASON_TEXTS[code].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
