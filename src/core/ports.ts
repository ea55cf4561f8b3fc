// What the rules ask of a database: one interface a table. `store/` implements them with knex.
import type { Account, AccountUpdate } from './account.js';
import type { Heartbeat, HeartbeatRetention, HeartbeatTotals } from './heartbeat.js';
import type { AgentSessionStore, DeliveryStore, RunStore } from './run-ports.js';

export interface AccountStore {
  all(): Promise<Account[]>;
  get(id: string): Promise<Account | null>;
  getByUsername(username: string): Promise<Account | null>;
  /** Returns 'username-taken' when another account has the name; nothing is written then. */
  add(account: Account): Promise<'added' | 'username-taken'>;
  /** Writes the given fields in one transaction and returns the account as it is now; null when there is none. */
  update(id: string, fields: AccountUpdate): Promise<Account | null>;
  /**
   * Deletes, in one transaction and in this order, the heartbeat data of the account's user name and the account.
   * A failure leaves both as they were. Returns the removed account; null when there is none.
   */
  remove(id: string): Promise<Account | null>;
  /** Writes the time of the newest login of many accounts at once; unknown ids are passed over. */
  saveLogins(logins: readonly { readonly id: string; readonly at: number }[]): Promise<void>;
  /** Replaces only the password hash (an imported hash becomes a salted one), if it is still `from`. */
  rehash(id: string, from: string, to: string): Promise<void>;
}

export interface HeartbeatStore {
  /** Totals of every account that has entries: what the memory pool is rebuilt from at start. */
  totals(): Promise<HeartbeatTotals[]>;
  /**
   * Writes a batch in one transaction, applies `maxPerAccount`, and returns the new totals of every account in it.
   * Entries of accounts that no longer exist are dropped, and their account reported with count 0.
   */
  append(batch: readonly Heartbeat[], retention: HeartbeatRetention): Promise<HeartbeatTotals[]>;
  /** Removes at most `limit` entries older than `before`; returns the new totals of the accounts that lost some, and whether more are left. */
  trim(before: number, limit: number): Promise<{ changed: HeartbeatTotals[]; more: boolean }>;
  /** Newest first; for the account page and the command line. */
  newest(accountId: string, limit: number): Promise<Heartbeat[]>;
}

export interface SettingStore {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
}

/** Something that another process (the command line, later another daemon) changed in the database. */
export type Change =
  | { readonly topic: 'account'; readonly id: string }
  | { readonly topic: 'setting'; readonly key: string };

export interface ChangeFeed {
  /** Changes written by other processes since the last call, oldest first; each is returned once. */
  next(): Promise<Change[]>;
}

/** Everything `store/` offers, opened and migrated. */
export interface Store {
  readonly accounts: AccountStore;
  readonly heartbeats: HeartbeatStore;
  readonly settings: SettingStore;
  readonly runs: RunStore;
  readonly deliveries: DeliveryStore;
  readonly agentSessions: AgentSessionStore;
  readonly changes: ChangeFeed;
  /** Resolves when the database answers; rejects with its error. */
  ping(): Promise<void>;
  /** Writes a whole copy of the database, in use or not, to a new file at `path`; rejects when there is one. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}
