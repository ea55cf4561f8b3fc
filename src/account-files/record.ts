// One account of a file, and the parser of its fields. Field names ignore case, so that files made from responses of the
// account API (Username, IsEnabled) work too.

import { isPasswordHash, isSalted } from '../core/accounts/access/password.js';
import { isValidPassword, isValidUsername } from '../core/accounts/account.js';
import type { AccountChange } from '../core/accounts/account-input.js';
import { type AccountFields, FIELDS, storedFields } from '../core/accounts/fields/account-fields.js';
import type { Contacts } from '../core/accounts/fields/contacts.js';
import { isEmpty } from '../core/accounts/fields/kinds.js';
import type { AccountLimits, CountedTraffic } from '../core/accounts/usage/limits.js';
import { guidOf } from '../core/ids.js';
import {
  faultOf,
  type ReadField,
  readContacts,
  readDate,
  readLimits,
  readPlan,
  readText,
  readUsage,
} from './field-readers.js';
import { fieldNamed } from './headings.js';
import { because, type Reason, type ReasonCode } from './reasons.js';

/**
 * The account fields of a file. Undefined when the file does not contain the field. At most one of password and passwordHash; an
 * existing account needs neither. Lists of addresses are as written in the file; the import parses them.
 */
export interface FileAccount extends AccountChange {
  readonly username: string;
  readonly id?: string | undefined;
  readonly createdAt?: number | undefined;
  /** Of the account's link, which goes on working on this server. */
  readonly linkHash?: string | undefined;
  /** Those that the file contains; null for an empty field. */
  readonly contacts: Partial<Contacts>;
  /** The limits that the file contains. */
  readonly limits: Partial<AccountLimits>;
  /** The usage of the account on the other server; undefined when the file does not contain it. */
  readonly usage: CountedTraffic | undefined;
}

/** A record of a file: an account or an error. `line` is 1 for the first line of the file. */
export type FileRecord =
  | { readonly line: number; readonly account: FileAccount }
  | { readonly line: number; readonly username: string | null; readonly fault: Reason };

/**
 * Parses one record. An empty text or null counts as a missing field. Dates
 * without a time zone are in `zone`.
 */
export function readRecord(
  line: number,
  fields: Readonly<Record<string, unknown>>,
  zone = 'UTC',
): FileRecord {
  const named = new Map(Object.entries(fields).map(([name, value]) => [fieldNamed(name), value]));
  const field = (name: string): unknown => {
    const value = named.get(fieldNamed(name));
    return value === '' || value === null ? undefined : value;
  };
  const name = field('username');
  const username = typeof name === 'string' ? name : null;
  const fault = (code: ReasonCode, values: Reason['values'] = {}): FileRecord => ({
    line,
    username,
    fault: because(code, values),
  });

  if (username === null) return fault('no-username');
  if (!isValidUsername(username)) return fault('username');
  const secret = readPassword(field);
  if (typeof secret === 'string') return fault(secret);
  const linkHash = readText(field('linkHash'), isSalted);
  if (linkHash === null) return fault('link-hash');
  const given = readFields(field, (name) => named.has(fieldNamed(name)));
  if ('code' in given) return { line, username, fault: given };
  const contacts = readContacts(field, (name) => named.has(name));
  if (contacts === null) return fault('contacts');
  const planned = readPlan(field);
  if (planned === null) return fault('plan');
  const createdAt = readDate(field('createdAt'), zone);
  const expiresAt = readDate(field('expiresAt'), zone);
  if (createdAt === null || expiresAt === null) return fault('date');
  const id = field('id') ?? field('AID');
  const guid = typeof id === 'string' ? guidOf(id) : undefined;
  if (guid === null) return fault('id');
  const limits = readLimits(field);
  if ('code' in limits) return { line, username, fault: limits };
  const usage = readUsage(field);
  if (usage === null) return fault('usage');
  return {
    line,
    account: {
      username,
      limits,
      usage,
      id: guid,
      ...secret,
      linkHash,
      ...given,
      contacts,
      ...planned,
      createdAt,
      expiresAt: expiresAt ?? (named.has(fieldNamed('expiresAt')) ? null : undefined),
    },
  };
}

/** Reads the fields of the table, or why one is invalid. A missing field keeps the value of an account, an empty one removes it. */
function readFields(field: ReadField, has: (name: string) => boolean): Partial<AccountFields> | Reason {
  const given: Record<string, unknown> = {};
  for (const [name, accountField] of FIELDS) {
    const { fault, ofCell, isValid = () => true, initial, toCell } = accountField;
    if (fault === null) continue;
    const cell = field(name);
    if (cell === undefined) {
      given[name] = has(name) && isEmpty(toCell(initial)) ? initial : undefined;
      continue;
    }
    const value = ofCell(cell);
    if (value === null || !isValid(value)) return faultOf(name, accountField);
    given[name] = value;
  }
  return storedFields(given);
}

/** At most one of password and hash, or why they are invalid. */
function readPassword(field: ReadField): Pick<FileAccount, 'password' | 'passwordHash'> | ReasonCode {
  const password = readText(field('password'), isValidPassword);
  if (password === null) return 'password';
  const passwordHash = readText(field('passwordHash'), isPasswordHash);
  if (passwordHash === null) return 'password-hash';
  return password !== undefined && passwordHash !== undefined ? 'two-passwords' : { password, passwordHash };
}
