// The proxy account with its limits, and the rules for a single account.
import { hasControl } from '../text.js';
import { DAY_MS } from '../time/clock.js';
import type { Contacts } from './fields/contacts.js';
import type { AccountLimits, QuotaReset } from './usage/limits.js';

/** What the server keeps of the secret link of an account's subscription (player/subscription.ts). */
export interface AccountLink {
  /** Hash of the password that the link's secret makes. The secret makes its salt too, so that the hash finds the account. */
  readonly hash: string;
  readonly createdAt: number;
}

/** A proxy account. All times are milliseconds since the Unix epoch, UTC. */
export interface Account {
  /** GUID, 8-4-4-4-12 lower-case hexadecimal. */
  readonly id: string;
  /** 1 to 255 bytes of UTF-8 without control characters; case sensitive; unique. */
  readonly username: string;
  /** `sha256$<salt hex>$<digest hex>`, or a bare 64-digit SHA-256 from an import (see access/password.ts). */
  readonly passwordHash: string;
  /** How often the password was changed; another hash of the same password does not count. */
  readonly passwordVersion: number;
  /** Clients may log in by the password of the link too. null: there is no link. */
  readonly link: AccountLink | null;
  readonly isEnabled: boolean;
  readonly remarks: string | null;
  /** Sorted, without duplicates (see fields/contacts.ts). */
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly lastLoginAt: number | null;
  /** null: never expires. */
  readonly expiresAt: number | null;
  /** Days from the first login to the expiry; `expiresAt` is null until that login. null: the account does not wait for one. */
  readonly daysFromFirstLogin: number | null;
  /** Name of the plan that was applied last; null: none. */
  readonly plan: string | null;
  readonly limits: AccountLimits;
  /** The last reset of the quota period by the operator; null: never. */
  readonly quotaReset: QuotaReset | null;
  /** Client addresses and networks that may use this account without credentials; see access/address-list.ts. */
  readonly authorizedAddresses: readonly string[];
  /** Client addresses and networks from which the account may log in; an empty list: everywhere. See access/address-list.ts. */
  readonly allowedClients: readonly string[];
  /** The days and hours at which the account may be used; null: always. See access/schedule.ts. */
  readonly schedule: string | null;
  /** Name of the exit by which its sessions leave; null: the default one, or none. */
  readonly exit: string | null;
  /** Logins are refused before that time; null: it was never suspended, or the suspension was lifted. */
  readonly suspendedUntil: number | null;
  /** Why: what its guard refused last (`REFUSED_BY` in usage/guard.ts), or an operator's words for the player. */
  readonly suspendReason: string | null;
  /** Id of the seller that owns the account; null: the administrator. */
  readonly owner: string | null;
  /** The player's addresses for notices. */
  readonly contacts: Contacts;
}

/** The account after a login at `at`. Copies every field by name, because `...` is slow on Node 20 (it creates a new hidden class). */
export function withLastLogin(account: Omit<Account, 'lastLoginAt'>, at: number | null): Account {
  return {
    id: account.id,
    username: account.username,
    passwordHash: account.passwordHash,
    passwordVersion: account.passwordVersion,
    link: account.link,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    tags: account.tags,
    createdAt: account.createdAt,
    lastLoginAt: at,
    expiresAt: account.expiresAt,
    daysFromFirstLogin: account.daysFromFirstLogin,
    plan: account.plan,
    limits: account.limits,
    quotaReset: account.quotaReset,
    authorizedAddresses: account.authorizedAddresses,
    allowedClients: account.allowedClients,
    schedule: account.schedule,
    exit: account.exit,
    suspendedUntil: account.suspendedUntil,
    suspendReason: account.suspendReason,
    owner: account.owner,
    contacts: account.contacts,
  };
}

/** True from `expiresAt` on, to the millisecond. An account without it never expires. */
export const isExpired = (account: Pick<Account, 'expiresAt'>, now: number): boolean =>
  account.expiresAt !== null && account.expiresAt <= now;

/** A suspension until it is lifted ends this long after its start, in the year 9000 or later: each has an end of its own. */
export const UNTIL_LIFTED_MS = 7_000 * 365 * DAY_MS;
export const isUntilLifted = (until: number): boolean => until >= Date.UTC(9000, 0);

/** A suspension ends by itself, to the millisecond. */
export function isSuspended({ suspendedUntil }: Pick<Account, 'suspendedUntil'>, now: number): boolean {
  return suspendedUntil !== null && suspendedUntil > now;
}

/** RFC 1929 §2 gives UNAME and PASSWD one length octet each: 1 to 255 bytes. */
export const MAX_CREDENTIAL_BYTES = 255;

/** Whether `username` may name an account: 1 to 255 bytes of UTF-8, not only white space, no control characters, because it is logged. */
export function isValidUsername(username: string): boolean {
  const bytes = Buffer.byteLength(username);
  return (
    bytes <= MAX_CREDENTIAL_BYTES &&
    username.trim() !== '' &&
    username.isWellFormed() &&
    !hasControl(username)
  );
}

/** Whether `password` may be set: 1 to 255 bytes of UTF-8, not only white space (an update reads that as "unchanged"). */
export function isValidPassword(password: string): boolean {
  return (
    Buffer.byteLength(password) <= MAX_CREDENTIAL_BYTES && password.trim() !== '' && password.isWellFormed()
  );
}
