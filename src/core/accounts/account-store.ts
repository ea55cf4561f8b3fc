// The database interface of accounts. `store/` implements it with knex.
import type { Actor } from '../audit/audit.js';
import type { Refuse } from '../settings/setting.js';
import type { Account } from './account.js';
import type { TrafficOfDay } from './usage/limits.js';

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
   * Deletes, in one transaction and in this order, the heartbeat data of the account's user name and the account.
   * On failure nothing is changed. Returns the removed account, null when it does not exist, or what `refuse` returns for it.
   */
  remove<Refusal extends string = never>(
    id: string,
    by?: Actor,
    refuse?: Refuse<Account, Refusal>,
  ): Promise<Account | Refusal | null>;
  /** Removes accounts in one transaction; returns those that existed. */
  removeMany(ids: readonly string[], by?: Actor): Promise<Account[]>;
  /** Writes the times of the latest logins of many accounts; ignores unknown ids. */
  saveLogins(logins: readonly { readonly id: string; readonly at: number }[]): Promise<void>;
  /** Replaces only the password hash (an imported hash becomes a salted one), if it is still `from`. */
  rehash(id: string, from: string, to: string): Promise<void>;
}
