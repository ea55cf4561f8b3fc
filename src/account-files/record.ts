// One account as it stands in a file, and how its fields are read. Names of fields are matched without regard to case,
// so that files made from the account API's answers (Username, IsEnabled) are read too.
import { isValidPassword, isValidUsername } from '../core/account.js';
import { type AccountView, isValidRemarks } from '../core/accounts.js';
import { isPasswordHash } from '../core/password.js';
import { formatWireDate, parseWireDate } from '../core/wire-date.js';

/** What a file says of an account. `undefined`: the file does not have the field. */
export interface FileAccount {
  readonly username: string;
  readonly id?: string | undefined;
  /** Exactly one of the two, or neither when the account exists already. */
  readonly password?: string | undefined;
  readonly passwordHash?: string | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly remarks?: string | null | undefined;
  readonly createdAt?: number | undefined;
  readonly expiresAt?: number | null | undefined;
}

/** A record of a file: an account, or why it is none. `line` is 1 for the first line of the file. */
export type FileRecord =
  | { readonly line: number; readonly account: FileAccount }
  | { readonly line: number; readonly username: string | null; readonly fault: string };

/** The fields of a file, in the order in which they are written. The last three are for information: never read. */
export const FIELDS = [
  'username',
  'passwordHash',
  'isEnabled',
  'remarks',
  'createdAt',
  'expiresAt',
  'id',
  'lastLoginAt',
  'dataCount',
  'latestGameId',
] as const;

export type Row = Readonly<Record<(typeof FIELDS)[number], string | number | boolean | null>>;

/** An account as a row of a file; dates as the account API writes them. */
export function toRow({ account, dataCount, latestGameId }: AccountView): Row {
  const date = (ms: number | null) => (ms === null ? null : formatWireDate(ms));
  return {
    username: account.username,
    passwordHash: account.passwordHash,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    createdAt: date(account.createdAt),
    expiresAt: date(account.expiresAt),
    id: account.id,
    lastLoginAt: date(account.lastLoginAt),
    dataCount,
    latestGameId,
  };
}

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads one record. Texts come from CSV, other types from JSON; an empty text or null is a field left out. */
export function readRecord(line: number, fields: Readonly<Record<string, unknown>>): FileRecord {
  const folded = new Map(Object.entries(fields).map(([name, value]) => [fold(name), value]));
  const field = (name: string): unknown => {
    const value = folded.get(fold(name));
    return value === '' || value === null ? undefined : value;
  };
  const name = field('username');
  const username = typeof name === 'string' ? name : null;
  const fault = (text: string): FileRecord => ({ line, username, fault: text });

  if (username === null) return fault('there is no user name');
  if (!isValidUsername(username)) return fault('a user name is 1 to 255 bytes without control characters');
  const password = field('password');
  if (password !== undefined && (typeof password !== 'string' || !isValidPassword(password))) {
    return fault('a password is a text of 1 to 255 bytes');
  }
  const passwordHash = field('passwordHash');
  if (passwordHash !== undefined && (typeof passwordHash !== 'string' || !isPasswordHash(passwordHash))) {
    return fault('passwordHash is neither sha256$salt$digest nor 64 hexadecimal digits');
  }
  if (password !== undefined && passwordHash !== undefined)
    return fault('either password or passwordHash, not both');
  const isEnabled = readFlag(field('isEnabled'));
  if (isEnabled === null) return fault('isEnabled is neither true nor false');
  const remarks = field('remarks');
  if (remarks !== undefined && (typeof remarks !== 'string' || !isValidRemarks(remarks))) {
    return fault('the remarks cannot be stored');
  }
  const createdAt = readDate(field('createdAt'));
  const expiresAt = readDate(field('expiresAt'));
  if (createdAt === null || expiresAt === null)
    return fault('a date is not of the form 2026-12-31T23:59:59 (UTC)');
  const id = field('id') ?? field('AID');
  const guid = typeof id === 'string' ? id.toLowerCase() : undefined;
  if (guid !== undefined && !GUID.test(guid)) return fault('id is not a GUID');
  return {
    line,
    account: {
      username,
      id: guid,
      password,
      passwordHash,
      isEnabled,
      // A field that is there but empty says that there are no remarks, and no expiry.
      remarks: remarks ?? (folded.has('remarks') ? null : undefined),
      createdAt,
      expiresAt: expiresAt ?? (folded.has('expiresat') ? null : undefined),
    },
  };
}

const fold = (name: string): string => name.toLowerCase().replace(/[ _-]/g, '');

/** undefined when left out, null when it is no flag. */
function readFlag(value: unknown): boolean | null | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (['true', '1', 'yes'].includes(text)) return true;
  return ['false', '0', 'no'].includes(text) ? false : null;
}

/** undefined when left out, null when it is no date. */
function readDate(value: unknown): number | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? parseWireDate(value) : null;
}
