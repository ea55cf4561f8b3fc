// An account as bytes: the form in which all threads share the accounts (account-memory.ts), and in which one process hands them to the
// next. What most accounts have in common is left out, so that an account takes about 100 bytes.
//
//   4 bytes   length of all of it
//   1 + n     id
//   1 + n     user name, in UTF-8
//   1 + n     salt and digest of the password's hash; none: the hash is in the rest
//   the rest  JSON of the properties that are not as in most accounts; nothing: all are
import { NO_ADDRESSES } from '../../core/accounts/access/address-list.js';
import { type AccountLimits, NO_LIMITS } from '../../core/accounts/usage/limits.js';
import type { AccountRecord } from '../plane-settings.js';

/** An account as most are. One shape for all, because every login reads them. */
class UsualAccount implements AccountRecord {
  passwordVersion = 0;
  link: AccountRecord['link'] = null;
  limits = NO_LIMITS;
  exit: AccountRecord['exit'] = null;
  owner: AccountRecord['owner'] = null;
  authorizedAddresses: readonly string[] = NO_ADDRESSES;
  isEnabled = true;
  suspendedUntil: AccountRecord['suspendedUntil'] = null;
  expiresAt: AccountRecord['expiresAt'] = null;
  allowedClients: readonly string[] = NO_ADDRESSES;
  schedule: AccountRecord['schedule'] = null;
  quotaLeft: AccountRecord['quotaLeft'] = null;
  quotaCounted = 0;
  needsPermit = false;
  otherNodes = 0;

  constructor(
    readonly id: string,
    readonly username: string,
    readonly passwordHash: string,
  ) {}
}

const USUAL = Object.entries(new UsualAccount('', '', '')).filter(([, value]) => value !== '');
const USUAL_LIMITS = Object.entries(NO_LIMITS);
const SALTED = /^sha256\$([0-9a-f]{32})\$([0-9a-f]{64})$/;
const SALT_AT = 'sha256$'.length;
const SALT_BYTES = 16;
const DIGEST_AT = SALT_AT + 2 * SALT_BYTES + 1;

export function packAccount(record: AccountRecord): Buffer {
  const { id, username, passwordHash } = record;
  const isSalted = SALTED.test(passwordHash);
  const hash = isSalted ? passwordHash.slice(SALT_AT, DIGEST_AT - 1) + passwordHash.slice(DIGEST_AT) : '';
  const rest = unusual(record, USUAL, isSalted ? null : { passwordHash });
  const text = rest === null ? '' : JSON.stringify(rest);
  const nameBytes = Buffer.byteLength(username);
  const length = 7 + id.length + nameBytes + hash.length / 2 + Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(length);
  let at = bytes.writeUInt32LE(length);
  at = bytes.writeUInt8(id.length, at);
  at += bytes.write(id, at, 'latin1');
  at = bytes.writeUInt8(nameBytes, at);
  at += bytes.write(username, at);
  at = bytes.writeUInt8(hash.length / 2, at);
  at += bytes.write(hash, at, 'hex');
  bytes.write(text, at);
  return bytes;
}

export function unpackAccount(bytes: Buffer): AccountRecord {
  const id = part(bytes, 4);
  const username = part(bytes, id.end);
  const hash = part(bytes, username.end);
  const text = bytes.toString('utf8', hash.end, packedLength(bytes));
  const rest = (text === '' ? {} : JSON.parse(text)) as Partial<AccountRecord>;
  const salt = bytes.toString('hex', hash.start, hash.start + SALT_BYTES);
  const digest = bytes.toString('hex', hash.start + SALT_BYTES, hash.end);
  const name = bytes.toString('utf8', username.start, username.end);
  const account = new UsualAccount(
    bytes.toString('latin1', id.start, id.end),
    name,
    rest.passwordHash ?? `sha256$${salt}$${digest}`,
  );
  const limits = rest.limits ? { ...NO_LIMITS, ...rest.limits } : NO_LIMITS;
  return Object.assign(account, rest, { limits });
}

export const packedLength = (bytes: Buffer, from = 0): number => bytes.readUInt32LE(from);

/** By what an account can be found. */
export type AccountKey = 'id' | 'username';

/** Where the id or the user name of the account that begins at `from` is: the position of its length, one byte before it. */
export function keyAt(bytes: Buffer, from: number, key: AccountKey): number {
  const id = from + 4;
  return key === 'id' ? id : id + 1 + (bytes[id] ?? 0);
}

/** The id or the user name of a packed account, without a copy. */
export function keyOf(bytes: Buffer, key: AccountKey): Buffer {
  const at = keyAt(bytes, 0, key);
  return bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0));
}

/** A search in the JSON costs less than reading it: few accounts have authorized addresses. */
export const mayHaveAddresses = (bytes: Buffer): boolean => bytes.includes('authorizedAddresses');

/** Each packed account of those that follow one another in `bytes`. */
export function* packedAccounts(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const from = at;
    at += packedLength(bytes, from);
    yield bytes.subarray(from, at);
  }
}

function part(bytes: Buffer, at: number): { readonly start: number; readonly end: number } {
  const start = at + 1;
  return { start, end: start + bytes.readUInt8(at) };
}

/** Adds to `found` the properties that differ from the usual ones. Null: there is none, and was none. */
function unusual(
  record: object,
  usual: readonly (readonly [name: string, value: unknown])[],
  found: Record<string, unknown> | null,
): Record<string, unknown> | null {
  let all = found;
  for (const [name, value] of usual) {
    const own = (record as Record<string, unknown>)[name];
    if (own === value || (Array.isArray(own) && own.length === 0)) continue;
    const different = value === NO_LIMITS ? unusual(own as AccountLimits, USUAL_LIMITS, null) : own;
    if (different !== null || value !== NO_LIMITS) all = { ...all, [name]: different };
  }
  return all;
}
