// What the rules ask of a database: one interface a table. `store/` implements them with knex.
import type { Account, AccountUpdate } from './accounts/account.js';
import type { AccountLimits, KeptLimits, TrafficOfDay, TrafficSums } from './accounts/limits.js';
import type { LoginStore } from './accounts/login-log.js';
import type { AgentSessionStore, DeliveryStore, RunStore } from './agents/run-ports.js';
import type { Actor, AuditRecord, AuditStore } from './audit/audit.js';
import type { ApiTokenStore } from './auth/api-tokens.js';
import type { ConsoleSessionStore } from './auth/console-sessions.js';
import type { Heartbeat, HeartbeatRetention, HeartbeatTotals } from './heartbeats/heartbeat.js';
import type { HeartbeatSumStore } from './heartbeats/heartbeat-sums.js';
import type { NoticeStore } from './notices/notices.js';
import type { SampleStore } from './stats/history.js';

/** Limits of new accounts, by id. */
export type NewLimits = ReadonlyMap<string, AccountLimits>;

/** Every change is noted in the audit log with the transaction that makes it, as made by `by` (the daemon itself unless given). */
export interface AccountStore {
  all(): Promise<Account[]>;
  get(id: string): Promise<Account | null>;
  /** Those that there are, in no particular order. */
  getMany(ids: readonly string[]): Promise<Account[]>;
  getByUsername(username: string): Promise<Account | null>;
  /** Returns 'username-taken' when another account has the name; nothing is written then. `limits` as in `addMany`. */
  add(account: Account, by?: Actor, limits?: NewLimits): Promise<'added' | 'username-taken'>;
  /**
   * Adds many in one transaction, with the limits of those that get any; returns the ids of those that were added, the
   * names of the others are taken.
   */
  addMany(accounts: readonly Account[], by?: Actor, limits?: NewLimits): Promise<ReadonlySet<string>>;
  /** Writes the given fields in one transaction and returns the account as it is now; null when there is none. */
  update(id: string, fields: AccountUpdate, by?: Actor): Promise<Account | null>;
  /** Updates many in one transaction; returns those that there are, as they are now. */
  updateMany(
    updates: readonly { readonly id: string; readonly fields: AccountUpdate }[],
    by?: Actor,
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

export interface HeartbeatFilter {
  readonly accountId?: string;
  readonly gameId?: string;
  /** `from` is inside the range, `to` is not. */
  readonly from?: number;
  readonly to?: number;
}

/** An entry with its place in the order of arrival. */
export type StoredHeartbeat = Heartbeat & { readonly place: number };

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
  /** Newest first, at most `limit`, all before the place `before`. */
  list(filter: HeartbeatFilter, before: number | null, limit: number): Promise<StoredHeartbeat[]>;
  /** Newest first; for the account page and the command line. */
  newest(accountId: string, limit: number): Promise<Heartbeat[]>;
}

export interface LimitStore {
  /** Of every account that has limits, or had some. */
  all(): Promise<({ readonly accountId: string } & KeptLimits)[]>;
  /** Those of the accounts that have limits, or had some. */
  getMany(accountIds: readonly string[]): Promise<ReadonlyMap<string, KeptLimits>>;
  /** Writes many in one transaction; returns the ids of those whose account there is. `before` is for the audit log. */
  saveMany(
    entries: readonly {
      readonly accountId: string;
      readonly kept: KeptLimits;
      readonly before: KeptLimits;
    }[],
    by: Actor,
  ): Promise<ReadonlySet<string>>;
  /** Adds to the traffic of many accounts and days at once; unknown accounts are passed over. */
  addTraffic(rows: readonly TrafficOfDay[]): Promise<void>;
  /** Days on which the account moved anything, from `fromDay` on, oldest first. */
  traffic(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Sums of the accounts that have traffic, all or those given; `bytesSince` counts from `fromDay` on (null: everything). */
  sums(fromDay: number | null, accountIds?: readonly string[]): Promise<TrafficSums[]>;
}

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** `audit` is noted in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
}

/** Something that another process (the command line, later another daemon) changed in the database. */
export type Change =
  | { readonly topic: 'account'; readonly id: string }
  | { readonly topic: 'setting'; readonly key: string };

export interface ChangeFeed {
  /**
   * The next changes written by other processes, oldest first, each returned once; at most some hundreds, and none
   * only when there are no more.
   */
  next(): Promise<Change[]>;
}

/** Everything `store/` offers, opened and migrated. */
export interface Store {
  readonly accounts: AccountStore;
  readonly heartbeats: HeartbeatStore;
  readonly settings: SettingStore;
  readonly limits: LimitStore;
  readonly audit: AuditStore;
  readonly consoleSessions: ConsoleSessionStore;
  readonly apiTokens: ApiTokenStore;
  readonly logins: LoginStore;
  readonly notices: NoticeStore;
  readonly samples: SampleStore;
  readonly heartbeatSums: HeartbeatSumStore;
  readonly runs: RunStore;
  readonly deliveries: DeliveryStore;
  readonly agentSessions: AgentSessionStore;
  readonly changes: ChangeFeed;
  /** Bytes the database takes on disk; null when it does not say. */
  size(): Promise<number | null>;
  /** Resolves when the database answers; rejects with its error. */
  ping(): Promise<void>;
  /** Writes a whole copy of the database, in use or not, to a new file at `path`; rejects when there is one. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}
