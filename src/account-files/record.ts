// One account of a file, and the parser of its fields. Field names ignore case, so that files made from responses of the
// account API (Username, IsEnabled) work too.
import { isValidPassword, isValidUsername } from '../core/accounts/account.js';
import { isValidRemarks } from '../core/accounts/account-input.js';
import type { AccountView } from '../core/accounts/account-views.js';
import { addressesOfText, textOfAddresses } from '../core/accounts/address-list.js';
import { CONTACT_LANGUAGES, type Contacts, wrongContact } from '../core/accounts/contacts.js';
import {
  type AccountLimits,
  type CountedTraffic,
  QUOTA_PERIODS,
  type QuotaPeriod,
} from '../core/accounts/limits.js';
import { isPasswordHash } from '../core/accounts/password.js';
import { isPlanName } from '../core/accounts/plans.js';
import { isSchedule, storedSchedule } from '../core/accounts/schedule.js';
import { areValidTags, inOrder, tagsOfText, textOfTags } from '../core/accounts/tags.js';
import { formatWireDate } from '../core/wire-date.js';
import { parseFileDate } from './file-date.js';
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
  /** In the place of an expiry. */
  readonly daysFromFirstLogin?: number | undefined;
  readonly plan?: string | undefined;
  /** As the file has them: the import reads them. */
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

/** An account to write to a file. */
export interface FileView {
  readonly view: AccountView;
  readonly usage: CountedTraffic;
}

/** A record of a file: an account or an error. `line` is 1 for the first line of the file. */
export type FileRecord =
  | { readonly line: number; readonly account: FileAccount }
  | { readonly line: number; readonly username: string | null; readonly fault: Reason };

/** The fields of a file, in the order of output. An import ignores lastLoginAt, dataCount and latestGameId. */
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
  'maxSessions',
  'maxClientAddresses',
  'bytesPerSecondUp',
  'bytesPerSecondDown',
  'quotaBytes',
  'quotaPeriod',
  'egressClass',
  'periodBytes',
  'totalBytesUp',
  'totalBytesDown',
  'tags',
  'plan',
  'daysFromFirstLogin',
  'authorizedAddresses',
  'allowedClients',
  'schedule',
  'email',
  'telegram',
  'language',
] as const;

export type Row = Readonly<Record<(typeof FIELDS)[number], string | number | boolean | null>>;

/** An account as a row of a file; dates in the format of the account API. */
export function toRow({ view, usage }: FileView): Row {
  const { account, dataCount, latestGameId } = view;
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
    ...account.limits,
    periodBytes: usage.periodBytes,
    totalBytesUp: usage.totalBytesUp,
    totalBytesDown: usage.totalBytesDown,
    tags: textOfTags(account.tags),
    plan: account.plan,
    daysFromFirstLogin: account.daysFromFirstLogin,
    authorizedAddresses: textOfAddresses(account.authorizedAddresses),
    allowedClients: textOfAddresses(account.allowedClients),
    schedule: account.schedule,
    ...account.contacts,
  };
}

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Parses one record. CSV has only texts, JSON has other types too. An empty text or null counts as a missing field. Dates
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
  const password = field('password');
  if (password !== undefined && (typeof password !== 'string' || !isValidPassword(password))) {
    return fault('password');
  }
  const passwordHash = field('passwordHash');
  if (passwordHash !== undefined && (typeof passwordHash !== 'string' || !isPasswordHash(passwordHash))) {
    return fault('password-hash');
  }
  if (password !== undefined && passwordHash !== undefined) return fault('two-passwords');
  const isEnabled = readFlag(field('isEnabled'));
  if (isEnabled === null) return fault('is-enabled');
  const remarks = field('remarks');
  if (remarks !== undefined && (typeof remarks !== 'string' || !isValidRemarks(remarks))) {
    return fault('remarks');
  }
  const tags = readTags(field('tags'));
  if (tags === null) return fault('tags');
  const authorizedAddresses = readTexts(field('authorizedAddresses'), addressesOfText);
  if (authorizedAddresses === null) return fault('addresses', { field: 'authorizedAddresses' });
  const allowedClients = readTexts(field('allowedClients'), addressesOfText);
  if (allowedClients === null) return fault('addresses', { field: 'allowedClients' });
  const schedule = field('schedule');
  if (schedule !== undefined && (typeof schedule !== 'string' || !isSchedule(schedule)))
    return fault('schedule');
  const contacts = readContacts(field, (name) => named.has(name));
  if (contacts === null) return fault('contacts');
  const planned = readPlan(field);
  if (planned === null) return fault('plan');
  const createdAt = readDate(field('createdAt'), zone);
  const expiresAt = readDate(field('expiresAt'), zone);
  if (createdAt === null || expiresAt === null) return fault('date');
  const id = field('id') ?? field('AID');
  const guid = typeof id === 'string' ? id.toLowerCase() : undefined;
  if (guid !== undefined && !GUID.test(guid)) return fault('id');
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
      password,
      passwordHash,
      isEnabled,
      // An empty field removes the remarks, the tags, the addresses and the expiry; a missing field keeps them.
      remarks: remarks ?? (named.has('remarks') ? null : undefined),
      tags: tags ?? (named.has('tags') ? [] : undefined),
      authorizedAddresses: authorizedAddresses ?? (named.has('authorizedaddresses') ? [] : undefined),
      allowedClients: allowedClients ?? (named.has('allowedclients') ? [] : undefined),
      schedule:
        schedule === undefined ? (named.has('schedule') ? null : undefined) : storedSchedule(schedule),
      contacts,
      ...planned,
      createdAt,
      expiresAt: expiresAt ?? (named.has('expiresat') ? null : undefined),
    },
  };
}

const YES = new Set(['true', '1', 'yes', 'y', 'on', 'enabled', '是', '启用', '已启用', '正常', '开', '有效']);
const NO = new Set([
  'false',
  '0',
  'no',
  'n',
  'off',
  'disabled',
  '否',
  '停用',
  '已停用',
  '禁用',
  '已禁用',
  '关',
  '无效',
]);

/** Undefined when missing, null when invalid. */
function readFlag(value: unknown): boolean | null | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (YES.has(text)) return true;
  return NO.has(text) ? false : null;
}

/** Splits one text, or each of an array; undefined when missing, null when invalid. */
function readTexts(value: unknown, split: (text: string) => string[]): readonly string[] | null | undefined {
  if (value === undefined) return undefined;
  const given: unknown[] = Array.isArray(value) ? value : [value];
  return given.every((each) => typeof each === 'string') ? given.flatMap(split) : null;
}

/** Undefined when missing, null when invalid. */
function readTags(value: unknown): readonly string[] | null | undefined {
  const texts = readTexts(value, tagsOfText);
  if (texts === undefined || texts === null) return texts;
  const tags = inOrder(texts);
  return areValidTags(tags) ? tags : null;
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

/** null when either is none. */
function readPlan(field: ReadField): Pick<FileAccount, 'plan' | 'daysFromFirstLogin'> | null {
  const plan = field('plan');
  const given = field('daysFromFirstLogin');
  if (plan !== undefined && (typeof plan !== 'string' || !isPlanName(plan))) return null;
  const days = given === undefined ? undefined : wholeNumber(given);
  if (days === null || (days !== undefined && (days < 1 || days > MAX_DAYS))) return null;
  return { plan, daysFromFirstLogin: days };
}

const NUMBERS = [
  'maxSessions',
  'maxClientAddresses',
  'bytesPerSecondUp',
  'bytesPerSecondDown',
  'quotaBytes',
] as const;

type ReadField = (name: string) => unknown;

/** The limits of the record, or the reason why they are invalid. */
function readLimits(field: ReadField): Partial<AccountLimits> | Reason {
  const limits: { -readonly [K in keyof AccountLimits]?: AccountLimits[K] } = {};
  for (const name of NUMBERS) {
    const value = field(name);
    if (value === undefined) continue;
    const number = wholeNumber(value);
    if (number === null || number < 1) return because('limit', { field: name });
    limits[name] = number;
  }
  const period = field('quotaPeriod');
  if (period !== undefined) {
    if (!QUOTA_PERIODS.includes(period as QuotaPeriod))
      return because('quota-period', { allowed: QUOTA_PERIODS.join(', ') });
    limits.quotaPeriod = period as QuotaPeriod;
  }
  const egressClass = field('egressClass');
  if (egressClass !== undefined) {
    if (typeof egressClass !== 'string') return because('egress-class');
    limits.egressClass = egressClass;
  }
  return limits;
}

/** Undefined when missing, null when invalid. */
function readUsage(field: ReadField): CountedTraffic | undefined | null {
  const values = ['totalBytesUp', 'totalBytesDown', 'periodBytes'].map(field);
  if (values.every((value) => value === undefined)) return undefined;
  const [totalBytesUp, totalBytesDown, periodBytes] = values.map((value) => wholeNumber(value ?? 0));
  if (totalBytesUp == null || totalBytesDown == null || periodBytes == null) return null;
  return { totalBytesUp, totalBytesDown, periodBytes: Math.min(periodBytes, totalBytesUp + totalBytesDown) };
}

function wholeNumber(value: unknown): number | null {
  const number =
    typeof value === 'number' ? value : /^\d{1,16}$/.test(String(value)) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
