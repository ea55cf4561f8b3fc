// Readers of the fields of one record that are not read by the table of fields. CSV has only texts, JSON has other types too.
import { CONTACT_LANGUAGES, type Contacts, wrongContact } from '../core/accounts/fields/contacts.js';
import { type Kind, wholeNumber } from '../core/accounts/fields/kinds.js';
import { isPlanName } from '../core/accounts/plans/plans.js';
import { type AccountLimits, type CountedTraffic, LIMIT_KINDS } from '../core/accounts/usage/limits.js';
import { parseFileDate } from './file-date.js';
import { because, REASON_TEXTS, type Reason, type ReasonCode } from './reasons.js';

/** The value of a field of the record; undefined when the field is missing, empty or null. */
export type ReadField = (name: string) => unknown;

/** Undefined when missing, null when it is no text or not valid. */
export function readText(value: unknown, isValid: (text: string) => boolean): string | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' && isValid(value) ? value : null;
}

/** Undefined when missing, null when invalid. */
export function readDate(value: unknown, zone: string): number | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? parseFileDate(value, zone) : null;
}

/** An empty field removes a contact, a missing one keeps it; null when one is invalid. */
export function readContacts(field: ReadField, has: (name: string) => boolean): Partial<Contacts> | null {
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

interface PlanFields {
  readonly plan: string | undefined;
  readonly daysFromFirstLogin: number | undefined;
}

/** null when either is invalid. */
export function readPlan(field: ReadField): PlanFields | null {
  const plan = field('plan');
  const given = field('daysFromFirstLogin');
  if (plan !== undefined && (typeof plan !== 'string' || !isPlanName(plan))) return null;
  const days = given === undefined ? undefined : wholeNumber(given);
  if (days === null || (days !== undefined && (days < 1 || days > MAX_DAYS))) return null;
  return { plan, daysFromFirstLogin: days };
}

/** The limits of the record, or the reason why they are invalid. */
export function readLimits(field: ReadField): Partial<AccountLimits> | Reason {
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
export function faultOf(
  field: string,
  { fault, allowed = [] }: Pick<Kind<unknown>, 'fault' | 'allowed'>,
): Reason {
  const code = fault as ReasonCode;
  const values = Object.entries({ field, allowed: allowed.join(', ') });
  return because(
    code,
    Object.fromEntries(values.filter(([name]) => REASON_TEXTS[code].includes(`{${name}}`))),
  );
}

/** Undefined when missing, null when invalid. */
export function readUsage(field: ReadField): CountedTraffic | undefined | null {
  const values = ['totalBytesUp', 'totalBytesDown', 'periodBytes'].map(field);
  if (values.every((value) => value === undefined)) return undefined;
  const [totalBytesUp, totalBytesDown, periodBytes] = values.map((value) => wholeNumber(value ?? 0));
  if (totalBytesUp == null || totalBytesDown == null || periodBytes == null) return null;
  return { totalBytesUp, totalBytesDown, periodBytes: Math.min(periodBytes, totalBytesUp + totalBytesDown) };
}
