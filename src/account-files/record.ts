// One account of a file, and the parser of its fields. Field names ignore case, so that files made from responses of the
// account API (Username, IsEnabled) work too.
import { isPasswordHash, isSalted } from '../core/accounts/access/password.js';
import { isValidPassword, isValidUsername } from '../core/accounts/account.js';
import type { AccountChange } from '../core/accounts/account-input.js';
import { type AccountFields, FIELDS, storedFields } from '../core/accounts/fields/account-fields.js';
import { CONTACT_LANGUAGES, type Contacts, wrongContact } from '../core/accounts/fields/contacts.js';
import { isEmpty, type Kind, wholeNumber } from '../core/accounts/fields/kinds.js';
import { isPlanName } from '../core/accounts/plans/plans.js';
import { type AccountLimits, type CountedTraffic, LIMIT_KINDS } from '../core/accounts/usage/limits.js';
import { guidOf } from '../core/ids.js';
import { zonedTime } from '../core/time/time-zone.js';
import { isWireDate, parseWireDate } from '../core/time/wire-date.js';
import { fieldNamed } from './headings.js';
import { because, REASON_TEXTS, type Reason, type ReasonCode } from './reasons.js';

/**
 * The account fields of a file. Undefined when the file does not contain the field. At most one of password and passwordHash; an
 * existing account needs neither. Lists of addresses are as written in the file; the import parses them.
 */
export interface FileAccount extends AccountChange {
  readonly username: string;
  readonly id?: string | undefined;
  readonly createdAt?: number | undefined;
  /** The address of this machine that its connections leave from, as written in the file. */
  readonly outgoingAddress?: string | undefined;
  /** Of the account's link, which goes on working on this server. */
  readonly linkHash?: string | undefined;
  /** Those that the file contains; null for an empty field. */
  readonly contacts: Partial<Contacts>;
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

/** The value of a field of the record; undefined when the field is missing, empty or null. */
type ReadField = (name: string) => unknown;

/** Undefined when missing, null when it is no text or not valid. */
function readText(value: unknown, isValid: (text: string) => boolean): string | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' && isValid(value) ? value : null;
}

/** Undefined when missing, null when invalid. */
function readDate(value: unknown, zone: string): number | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? parseFileDate(value, zone) : null;
}

/** An empty field removes a contact, a missing one keeps it; null when one is invalid. */
function readContacts(field: ReadField, has: (name: string) => boolean): Partial<Contacts> | null {
  const contacts: Record<string, unknown> = {};
  for (const name of ['email', 'telegram', 'language']) {
    const value = field(name);
    if (value !== undefined) contacts[name] = typeof value === 'number' ? String(value) : value;
    else if (has(name)) contacts[name] = null;
  }
  const { email = null, telegram = null, language = null } = contacts;
  if (![email, telegram].every((each) => each === null || typeof each === 'string')) return null;
  if (language !== null && !CONTACT_LANGUAGES.some((known) => known === language)) return null;
  return wrongContact(contacts) === null ? contacts : null;
}

const MAX_DAYS = 36_500;

/** null when either is invalid. */
function readPlan(field: ReadField): Pick<FileAccount, 'plan' | 'daysFromFirstLogin'> | null {
  const plan = field('plan');
  const given = field('daysFromFirstLogin');
  if (plan !== undefined && (typeof plan !== 'string' || !isPlanName(plan))) return null;
  const days = given === undefined ? undefined : wholeNumber(given);
  if (days === null || (days !== undefined && (days < 1 || days > MAX_DAYS))) return null;
  return { plan, daysFromFirstLogin: days };
}

/** The limits of the record, or the reason why they are invalid. */
function readLimits(field: ReadField): Partial<AccountLimits> | Reason {
  const limits: Record<string, unknown> = {};
  for (const [name, kind] of LIMIT_KINDS) {
    const cell = field(name);
    if (cell === undefined) continue;
    const value = kind.ofCell(cell);
    if (value === null) return faultOf(name, kind);
    limits[name] = value;
  }
  return limits;
}

/** Why a cell of the field is refused. */
function faultOf(field: string, { fault, allowed = [] }: Pick<Kind<unknown>, 'fault' | 'allowed'>): Reason {
  const code = fault as ReasonCode;
  const values = Object.entries({ field, allowed: allowed.join(', ') });
  return because(
    code,
    Object.fromEntries(values.filter(([name]) => REASON_TEXTS[code].includes(`{${name}}`))),
  );
}

/** Undefined when missing, null when invalid. */
function readUsage(field: ReadField): CountedTraffic | undefined | null {
  const values = ['totalBytesUp', 'totalBytesDown', 'periodBytes'].map(field);
  if (values.every((value) => value === undefined)) return undefined;
  const [totalBytesUp, totalBytesDown, periodBytes] = values.map((value) => wholeNumber(value ?? 0));
  if (totalBytesUp == null || totalBytesDown == null || periodBytes == null) return null;
  return { totalBytesUp, totalBytesDown, periodBytes: Math.min(periodBytes, totalBytesUp + totalBytesDown) };
}

const DATE = /^(\d{4})(?:-|\/|\.|年)(\d{1,2})(?:-|\/|\.|月)(\d{1,2})日?(?:\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;

/**
 * Parses a date into ms since the epoch; null for anything else. `2026-12-31T23:59:59`, the format of exported files, is UTC
 * unless it has an offset. `2026/12/31`, `2026-12-31 23:59`, `2026年12月31日` and similar formats are in `zone`.
 */
export function parseFileDate(text: string, zone: string): number | null {
  const given = text.normalize('NFKC').trim();
  const match = DATE.exec(given);
  if (!match) return parseWireDate(given);
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const two = (value: number | undefined) => String(value).padStart(2, '0');
  const utc = parseWireDate(
    `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`,
  );
  if (utc === null) return null;
  const at = zonedTime(utc, zone);
  return isWireDate(at) ? at : null;
}
