// What the rules of accounts ask of a database. `store/` implements it with knex.
import type { Actor } from '../audit/audit.js';
import type { Account, AccountUpdate } from './account.js';
import type { TrafficOfDay } from './limits.js';

/** Another account has the user name that one is to get. */
export class UsernameTaken extends Error {
  override readonly name = 'UsernameTaken';
}

/** A write was undone: another account has an authorized address of it. */
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
 * Accounts with their limits and authorized addresses; writing these rejects with AddressTaken when another account has one. Every change is noted in the audit log with the transaction that makes it, as made by `by`
 * (the daemon itself unless given).
 */
export interface AccountStore {
  all(): Promise<Account[]>;
  get(id: string): Promise<Account | null>;
  /** Those that there are, in no particular order. */
  getMany(ids: readonly string[]): Promise<Account[]>;
  getByUsername(username: string): Promise<Account | null>;
  /** Returns 'username-taken' when another account has the name; nothing is written then. */
  add(account: Account, by?: Actor): Promise<'added' | 'username-taken'>;
  /**
   * Adds many in one transaction, with what they have moved elsewhere; returns the ids of those that were added, the names
   * of the others are taken.
   */
  addMany(
    accounts: readonly Account[],
    by?: Actor,
    traffic?: readonly TrafficOfDay[],
  ): Promise<ReadonlySet<string>>;
  /** Writes the given fields in one transaction and returns the account as it is now; null when there is none. */
  update(id: string, fields: AccountUpdate, by?: Actor): Promise<Account | null>;
  /**
   * Updates many in one transaction, and adds to their traffic; returns those that there are, as they are now. Rejects with
   * UsernameTaken, and writes nothing, when another account has the new name of one.
   */
  updateMany(
    updates: readonly { readonly id: string; readonly fields: AccountUpdate }[],
    by?: Actor,
    traffic?: readonly TrafficOfDay[],
  ): Promise<Account[]>;
  /**
   * Deletes, in one transaction and in this order, the heartbeat data of the account's user name and the account.
   * A failure leaves both as they were. Returns the removed account; null when there is none.
   */
  remove(id: string, by?: Actor): Promise<Account | null>;
  /** Removes many in one transaction; returns those that there were. */
  removeMany(ids: readonly string[], by?: Actor): Promise<Account[]>;
  /** Writes the time of the newest login of many accounts at once; unknown ids are passed over. */
  saveLogins(logins: readonly { readonly id: string; readonly at: number }[]): Promise<void>;
  /** Replaces only the password hash (an imported hash becomes a salted one), if it is still `from`. */
  rehash(id: string, from: string, to: string): Promise<void>;
}
