// The input of account changes, and its validation before the database is accessed.
import { isWireDate } from '../wire-date.js';
import { NO_ADDRESSES } from './access/address-list.js';
import { hashPassword } from './access/password.js';
import { isSchedule, storedSchedule } from './access/schedule.js';
import { type Account, type AccountUpdate, isValidPassword, isValidUsername } from './account.js';
import { type Contacts, changedContacts, NO_CONTACTS, wrongContact } from './fields/contacts.js';
import { areValidTags, uniqueTags } from './fields/tags.js';
import { type AccountLimits, NO_LIMITS } from './usage/limits.js';

/**
 * The fields of a creation or an update besides the credentials. `expiresAt` in milliseconds since the epoch, in the years
 * 0001 to 9999 UTC.
 */
export interface AccountFields {
  readonly isEnabled: boolean;
  readonly remarks: string | null;
  readonly expiresAt: number | null;
}

/** The values of fields that a creation or an update omits. */
export const ACCOUNT_DEFAULTS: AccountFields = { isEnabled: true, remarks: null, expiresAt: null };

/** The further fields that a creation or a change may give. */
interface OptionalFields {
  readonly tags?: readonly string[] | undefined;
  /** Days from the first login to the expiry; an account that waits for its first login has no expiry yet. */
  readonly daysFromFirstLogin?: number | null | undefined;
  readonly plan?: string | null | undefined;
  /** Omitted limits keep their value; those of a new account are NO_LIMITS. */
  readonly limits?: Partial<AccountLimits> | undefined;
  /** All addresses of the account, read by `readAuthorizedAddresses`. */
  readonly authorizedAddresses?: readonly string[] | undefined;
  /** All allowed clients of the account, read by `readAllowedClients`. */
  readonly allowedClients?: readonly string[] | undefined;
  /** Null or blank: always. */
  readonly schedule?: string | null | undefined;
  /** Id of a seller, or null for the administrator. */
  readonly owner?: string | null | undefined;
  readonly contacts?: Partial<Contacts> | undefined;
}

export interface NewAccount extends AccountFields, OptionalFields {
  readonly username: string;
  readonly password: string;
}

/** An undefined, empty or blank `password` keeps the password; the other fields are always written. */
export interface ChangedAccount extends AccountFields {
  readonly password?: string | undefined;
}

/** Undefined fields are not changed. */
export interface AccountChange
  extends Partial<{ [K in keyof AccountFields]: AccountFields[K] | undefined }>,
    OptionalFields {
  readonly password?: string | undefined;
  /** From an import, instead of a password. */
  readonly passwordHash?: string | undefined;
}

/** A change of one account, including its user name. */
export interface AccountPatch extends AccountChange {
  readonly username?: string | undefined;
}

export type FieldRefusal =
  | 'invalid-password'
  | 'invalid-remarks'
  | 'invalid-tags'
  | 'invalid-expiry'
  | 'invalid-schedule'
  | 'invalid-email'
  | 'invalid-telegram'
  | 'unknown-egress-class'
  /** `address` of the refusal names the faulty entry. */
  | 'invalid-addresses'
  | 'invalid-allowed-clients'
  | 'address-taken';
export type UpdateRefusal = FieldRefusal | 'not-found';
export type RenameRefusal = 'invalid-username' | 'username-taken';
export type AddRefusal = FieldRefusal | 'empty-credentials' | 'invalid-username' | 'username-taken';

/** Whether the configuration has an egress class. Always true for null, the default rules. */
export type HasEgressClass = (name: string | null) => boolean;

/** Whether every database can store `remarks`: well-formed Unicode without U+0000. */
export function isValidRemarks(remarks: string): boolean {
  return remarks.isWellFormed() && !remarks.includes('\0');
}

/** Whether every interface can represent `expiresAt`: never, or a time in the years 0001 to 9999 (UTC). */
function isValidExpiry(expiresAt: number | null): boolean {
  return expiresAt === null || isWireDate(expiresAt);
}

/** Why `input` cannot become an account; null: it can. Whether the name is taken is known only when it is written. */
export function refuseNew(input: NewAccount, hasEgressClass: HasEgressClass): AddRefusal | null {
  if (isBlank(input.username) || isBlank(input.password)) return 'empty-credentials';
  if (!isValidUsername(input.username)) return 'invalid-username';
  return refuseChange(input, NO_LIMITS, hasEgressClass);
}

/**
 * Why an account cannot be changed in this way; null: it can.
 * @param limits the current limits: an account may keep an egress class that the configuration no longer has
 */
export function refuseChange(
  {
    password,
    remarks,
    tags,
    expiresAt,
    schedule,
    contacts = {},
    limits: { egressClass } = {},
  }: AccountChange,
  limits: AccountLimits,
  hasEgressClass: HasEgressClass,
): FieldRefusal | null {
  if (password !== undefined && !isValidPassword(password)) return 'invalid-password';
  if (remarks !== undefined && remarks !== null && !isValidRemarks(remarks)) return 'invalid-remarks';
  if (tags !== undefined && !areValidTags(uniqueTags(tags))) return 'invalid-tags';
  if (expiresAt !== undefined && !isValidExpiry(expiresAt)) return 'invalid-expiry';
  if (schedule !== undefined && !isSchedule(schedule)) return 'invalid-schedule';
  const contact = wrongContact(contacts);
  if (contact !== null) return contact === 'email' ? 'invalid-email' : 'invalid-telegram';
  const isOther = egressClass !== undefined && egressClass !== limits.egressClass;
  return isOther && !hasEgressClass(egressClass) ? 'unknown-egress-class' : null;
}

/** Creates the account record for `input`. */
export function accountOf(input: NewAccount, id: string, createdAt: number): Account {
  return {
    id,
    username: input.username,
    passwordHash: hashPassword(input.password),
    passwordVersion: 0,
    isEnabled: input.isEnabled,
    remarks: input.remarks,
    tags: uniqueTags(input.tags ?? []),
    createdAt,
    lastLoginAt: null,
    expiresAt: input.expiresAt,
    daysFromFirstLogin: input.daysFromFirstLogin ?? null,
    plan: input.plan ?? null,
    limits: input.limits ? { ...NO_LIMITS, ...input.limits } : NO_LIMITS,
    quotaReset: null,
    authorizedAddresses: input.authorizedAddresses ?? NO_ADDRESSES,
    allowedClients: input.allowedClients ?? NO_ADDRESSES,
    schedule: storedSchedule(input.schedule ?? null),
    owner: input.owner ?? null,
    contacts: changedContacts(NO_CONTACTS, input.contacts),
  };
}

/** The fields to write for a change: the password hashed, tags and schedule in their stored form. */
export function toUpdate({ password, passwordHash, ...fields }: AccountPatch): AccountUpdate {
  const { username, isEnabled, remarks, plan, limits, owner, contacts } = fields;
  const { authorizedAddresses, allowedClients } = fields;
  const schedule = fields.schedule === undefined ? undefined : storedSchedule(fields.schedule);
  const { daysFromFirstLogin, expiresAt } = waitOrExpiry(fields);
  const tags = fields.tags && uniqueTags(fields.tags);
  const hash = password === undefined ? passwordHash : hashPassword(password);
  return {
    ...{ username, isEnabled, remarks, tags, plan, limits, owner, contacts },
    ...{ authorizedAddresses, allowedClients, schedule },
    ...{ expiresAt, daysFromFirstLogin, passwordHash: hash },
  };
}

/** An account either waits for its first login or has an expiry: setting one clears the other. */
function waitOrExpiry({ daysFromFirstLogin, expiresAt }: AccountChange): {
  daysFromFirstLogin: number | null | undefined;
  expiresAt: number | null | undefined;
} {
  if (daysFromFirstLogin != null) return { daysFromFirstLogin, expiresAt: null };
  return { daysFromFirstLogin: expiresAt === undefined ? daysFromFirstLogin : null, expiresAt };
}

export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}
