// One account of a file, and the parser of its fields. Field names ignore case, so that files made from responses of the
// account API (Username, IsEnabled) work too.

import { addressesOfText } from '../core/accounts/access/address-list.js';
import { isPasswordHash } from '../core/accounts/access/password.js';
import { isSchedule, storedSchedule } from '../core/accounts/access/schedule.js';
import { isValidPassword, isValidUsername } from '../core/accounts/account.js';
import { isValidRemarks } from '../core/accounts/account-input.js';
import type { Contacts } from '../core/accounts/fields/contacts.js';
import type { AccountLimits, CountedTraffic } from '../core/accounts/usage/limits.js';
import { guidOf } from '../core/ids.js';
import {
  type ReadField,
  readContacts,
  readDate,
  readFlag,
  readLimits,
  readPlan,
  readTags,
  readText,
  readTexts,
  readUsage,
} from './field-readers.js';
import { fieldNamed } from './headings.js';
import { because, type Reason, type ReasonCode } from './reasons.js';

/** The account fields of a file. Undefined when the file does not contain the field. */
export interface FileAccount {
  readonly username: string;
  readonly id?: string | undefined;
  /** Exactly one of password and passwordHash; an existing account needs neither. */
  readonly password?: string | undefined;
  readonly passwordHash?: string | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly remarks?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly createdAt?: number | undefined;
  readonly expiresAt?: number | null | undefined;
  /** In place of an expiry date. */
  readonly daysFromFirstLogin?: number | undefined;
  readonly plan?: string | undefined;
  /** As written in the file; the import parses them. */
  readonly authorizedAddresses?: readonly string[] | undefined;
  readonly allowedClients?: readonly string[] | undefined;
  readonly schedule?: string | null | undefined;
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
  /** An empty field removes the remarks, the tags, the addresses and the expiry; a missing field keeps them. */
  const orEmpty = <Value, Empty>(name: string, value: Value | undefined, empty: Empty) =>
    value ?? (named.has(fieldNamed(name)) ? empty : undefined);
  const fault = (code: ReasonCode, values: Reason['values'] = {}): FileRecord => ({
    line,
    username,
    fault: because(code, values),
  });

  if (username === null) return fault('no-username');
  if (!isValidUsername(username)) return fault('username');
  const secret = readPassword(field);
  if (typeof secret === 'string') return fault(secret);
  const isEnabled = readFlag(field('isEnabled'));
  if (isEnabled === null) return fault('is-enabled');
  const remarks = readText(field('remarks'), isValidRemarks);
  if (remarks === null) return fault('remarks');
  const tags = readTags(field('tags'));
  if (tags === null) return fault('tags');
  const authorizedAddresses = readTexts(field('authorizedAddresses'), addressesOfText);
  if (authorizedAddresses === null) return fault('addresses', { field: 'authorizedAddresses' });
  const allowedClients = readTexts(field('allowedClients'), addressesOfText);
  if (allowedClients === null) return fault('addresses', { field: 'allowedClients' });
  const schedule = readText(field('schedule'), isSchedule);
  if (schedule === null) return fault('schedule');
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
      isEnabled,
      remarks: orEmpty('remarks', remarks, null),
      tags: orEmpty('tags', tags, []),
      authorizedAddresses: orEmpty('authorizedAddresses', authorizedAddresses, []),
      allowedClients: orEmpty('allowedClients', allowedClients, []),
      schedule: orEmpty('schedule', schedule && storedSchedule(schedule), null),
      contacts,
      ...planned,
      createdAt,
      expiresAt: orEmpty('expiresAt', expiresAt, null),
    },
  };
}

/** At most one of password and hash, or why they are invalid. */
function readPassword(field: ReadField): Pick<FileAccount, 'password' | 'passwordHash'> | ReasonCode {
  const password = readText(field('password'), isValidPassword);
  if (password === null) return 'password';
  const passwordHash = readText(field('passwordHash'), isPasswordHash);
  if (passwordHash === null) return 'password-hash';
  return password !== undefined && passwordHash !== undefined ? 'two-passwords' : { password, passwordHash };
}
