// The database interface of accounts. `store/` implements it with knex.
import type { Actor } from '../audit/audit.js';
import type { Account, AccountUpdate } from './account.js';
import type { TrafficOfDay } from './limits.js';

/** Another account already has the user name. */
export class UsernameTaken extends Error {
  override readonly name = 'UsernameTaken';
}

/** A write was rolled back: the stored account is not the version to change. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/** Whether the stored account is the version to change. Another process may have changed it since this one read it. */
export type IsCurrent = (stored: Account) => boolean;

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

export interface StoredUpdate {
  readonly id: string;
  readonly fields: AccountUpdate;
  readonly isCurrent?: IsCurrent | undefined;
}

/**
 * Accounts with their limits and authorized addresses. A write rejects with AddressTaken when another account has one of the
 * addresses. Each change is recorded in the audit log in the same transaction, as made by `by` (default: the daemon). The cost of
 * a change by a seller is charged to the seller's budget; adding and updating reject with OverBudget when too little is left.
 */
export interface AccountStore {
  all(): Promise<Account[]>;
  get(id: string): Promise<Account | null>;
  /** The existing accounts among `ids`, in no particular order. */
  getMany(ids: readonly string[]): Promise<Account[]>;
  getByUsername(username: string): Promise<Account | null>;
  /** Returns 'username-taken' and writes nothing when another account has the name. */
  add(account: Account, by?: Actor): Promise<'added' | 'username-taken'>;
  /**
   * Adds accounts in one transaction, with their usage on another server. Returns the ids of the added accounts; the names of the
   * others are taken.
   */
  addMany(
    accounts: readonly Account[],
    by?: Actor,
    traffic?: readonly TrafficOfDay[],
  ): Promise<ReadonlySet<string>>;
  /** Writes the given fields in one transaction and returns the updated account; null when it does not exist. */
  update(id: string, fields: AccountUpdate, by?: Actor): Promise<Account | null>;
  /**
   * Updates accounts and adds to their traffic in one transaction. Returns the updated accounts; omits those that do not exist.
   * Rejects with UsernameTaken and writes nothing when another account has one of the new names, and with ChangedMeanwhile when an
   * `isCurrent` returns false.
   */
  updateMany(
    updates: readonly StoredUpdate[],
    by?: Actor,
    traffic?: readonly TrafficOfDay[],
  ): Promise<Account[]>;
  /**
   * Deletes, in one transaction and in this order, the heartbeat data of the account's user name and the account.
   * On failure nothing is changed. Returns the removed account; null when it does not exist. Rejects with ChangedMeanwhile when
   * `isCurrent` returns false.
   */
  remove(id: string, by?: Actor, isCurrent?: IsCurrent): Promise<Account | null>;
  /** Removes accounts in one transaction; returns those that existed. */
  removeMany(ids: readonly string[], by?: Actor): Promise<Account[]>;
  /** Writes the times of the latest logins of many accounts; ignores unknown ids. */
  saveLogins(logins: readonly { readonly id: string; readonly at: number }[]): Promise<void>;
  /** Replaces only the password hash (an imported hash becomes a salted one), if it is still `from`. */
  rehash(id: string, from: string, to: string): Promise<void>;
}
