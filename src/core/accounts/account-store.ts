// The database interface of accounts, which `store/` implements with knex; and the audit records of their changes.
import { type Actor, type AuditRecord, auditRecord, differences } from '../audit/audit.js';
import type { RefusalOf } from '../settings/setting.js';
import type { Account } from './account.js';
import { auditedFields } from './fields/account-fields.js';
import { maskedContact } from './fields/contacts.js';
import type { AccountLimits, TrafficOfDay } from './usage/limits.js';

export class UsernameTaken extends Error {
  override readonly name = 'UsernameTaken';
}

/** A write was rolled back: an authorized address overlaps one of another account. */
export class AddressTaken extends Error {
  override readonly name = 'AddressTaken';
  constructor(
    readonly entry: string,
    readonly accountId: string,
  ) {
    super(`${entry} overlaps an authorized address of the account ${accountId}`);
  }
}

/**
 * A change of a stored account. The functions run in the transaction that writes, while the account is locked, and again when the
 * transaction is repeated. An exception rolls the transaction back.
 */
export interface StoredChange {
  /** An account can be in one change of a transaction only. */
  readonly id: string;
  /** Returns the account after the change; null: it stays as it is. The last login is not written. */
  readonly after: (stored: Account) => Account | null;
  readonly trafficOf?: ((changed: Account) => readonly TrafficOfDay[]) | undefined;
}

/**
 * Accounts with their limits and authorized addresses. A write rejects with AddressTaken when another account has one of the
 * addresses. Each change is recorded in the audit log in the same transaction, as made by `by` (default: the daemon). The cost of
 * a change by a seller is charged to the seller's budget; adding and updating reject with OverBudget when too little is left.
 */
export interface AccountStore {
  all(): Promise<Account[]>;
  /** The existing accounts among `ids`, in no particular order. */
  getMany(ids: readonly string[]): Promise<Account[]>;
  /** Returns the id of the account whose link has this hash; null: none. Of copies of an account, the oldest. */
  findByLink(hash: string): Promise<string | null>;
  /**
   * Adds accounts in one transaction, with their usage on another server. Returns the ids of the added accounts; the names of the
   * others are taken.
   */
  addMany(
    accounts: readonly Account[],
    by?: Actor,
    traffic?: readonly TrafficOfDay[],
  ): Promise<ReadonlySet<string>>;
  /**
   * Changes accounts and adds to their traffic in one transaction. Returns the changed accounts; omits those that do not exist, and
   * those that stay as they are. Rejects with UsernameTaken and writes nothing when another account has one of the new names.
   */
  changeMany(changes: readonly StoredChange[], by?: Actor): Promise<Account[]>;
  /**
   * Deletes accounts with the heartbeat data of their user names in one transaction. Returns those that existed, or what `refusalOf`
   * returns for one, and then nothing is changed.
   */
  removeMany<Refusal extends string = never>(
    ids: readonly string[],
    by?: Actor,
    refusalOf?: RefusalOf<Account, Refusal>,
  ): Promise<Account[] | Refusal>;
  /** Writes the times of the latest logins of many accounts; ignores unknown ids. */
  saveLogins(logins: readonly { readonly id: string; readonly at: number }[]): Promise<void>;
  /** Replaces only the password hash (an imported hash becomes a salted one), if it is still `from`. */
  rehash(id: string, from: string, to: string): Promise<void>;
}

/**
 * The audit record for a change of an account; `before` is null for a new account, `after` is null for a removed one. Of a new
 * password it contains only that it changed. Null when nothing differs.
 */
export function accountAudit(by: Actor, before: Account | null, after: Account | null): AuditRecord | null {
  const account = after ?? before;
  if (!account) return null;
  const object = objectOf(account);
  if (!before) return auditRecord(by, 'account.create', object, null, masked(shown(account)));
  if (!after) return auditRecord(by, 'account.delete', object, masked(shown(account)));
  const isNewPassword = before.passwordHash !== after.passwordHash;
  const isRenamed = before.username !== after.username;
  const named = (one: Account) => (isRenamed ? { username: one.username, ...shown(one) } : shown(one));
  const { before: old, after: now, differs } = differences(named(before), named(after));
  if (!differs) return isNewPassword ? auditRecord(by, 'account.password', object) : null;
  const changed = isNewPassword ? { ...now, password: 'changed' } : now;
  return auditRecord(by, 'account.update', object, masked(old), masked(changed));
}

const objectOf = ({ id, username }: Account) => ({ type: 'account', id, name: username }) as const;

/** The audit record for a change of limits; `before` is NO_LIMITS for a new account. Null when nothing differs. */
export function limitsAudit(by: Actor, before: AccountLimits, after: Account): AuditRecord | null {
  const changed = differences({ ...before }, { ...after.limits });
  if (!changed.differs) return null;
  return auditRecord(by, 'account.limits', objectOf(after), changed.before, changed.after);
}

export function changeAudit(by: Actor, before: Account, after: Account): (AuditRecord | null)[] {
  const isReset = after.quotaReset !== before.quotaReset;
  return [
    accountAudit(by, before, after),
    limitsAudit(by, before.limits, after),
    isReset ? auditRecord(by, 'account.reset-usage', objectOf(after)) : null,
    linkAudit(by, before, after),
  ];
}

/** Null also when the link went with the owner. */
function linkAudit(by: Actor, before: Account, after: Account): AuditRecord | null {
  if (after.link?.hash === before.link?.hash || (after.link === null && after.owner !== before.owner))
    return null;
  return auditRecord(
    by,
    after.link ? 'account.subscription' : 'account.subscription-revoke',
    objectOf(after),
  );
}

function shown(account: Account): Record<string, unknown> {
  const contacts = Object.entries(account.contacts).filter(([, value]) => value !== null);
  return { ...auditedFields(account), ...Object.fromEntries(contacts) };
}

/** Shortens the contacts after the comparison, so that two addresses with the same beginning differ. */
function masked(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { email, telegram } = fields;
  return {
    ...fields,
    ...(typeof email === 'string' ? { email: maskedContact(email) } : {}),
    ...(typeof telegram === 'string' ? { telegram: maskedContact(telegram) } : {}),
  };
}
