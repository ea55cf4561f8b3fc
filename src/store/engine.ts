// The interface of a database engine: its connections and engine-specific operations. Opened by sqlite-engine.ts and pg-engine.ts.
import type { Knex } from 'knex';
import type { ActivityFeed, AsOf } from '../core/accounts/activity-feed.js';
import type { PermitStore } from '../core/accounts/permit-store.js';
import type { PenaltyStore } from '../core/auth/penalty-store.js';
import type { ChangeFeed } from '../core/changes.js';
import type { Clock } from '../core/clock.js';
import type { HeartbeatStore } from '../core/heartbeats/heartbeat-store.js';
import type { LiveSessionStore } from '../core/sessions/live-session-store.js';
import type { StorageFault } from '../core/storage.js';
import type { RecordActivity } from './activity.js';
import type { IsNewBatch } from './batches.js';
import type { RecordChange } from './changes.js';
import type { LoginSearch } from './logins.js';

/** How many queries that only read run beside the writes, and how long each may take. */
export interface ReaderOptions {
  /** Connections at most; each may keep a thread busy. */
  readonly readers: number;
  /** Longest that a query may take, and as long again that it may wait for a connection, in ms. */
  readonly timeoutMs: number;
}

/** For commands, which read little. */
export const DEFAULT_READING: ReaderOptions = { readers: 1, timeoutMs: 60_000 };

/** Events of a migration at the start of the daemon. */
export type MigrationEvent =
  /** `copy`: the file that a copy of the database is being written to first; null where none is made. */
  | { readonly kind: 'started'; readonly missing: readonly string[]; readonly copy: string | null }
  | { readonly kind: 'finished'; readonly ran: readonly string[]; readonly tookMs: number };

/** Who opens the database: a command, which never migrates an existing database, or the daemon. */
export type Opener =
  | { readonly is: 'command' }
  | { readonly is: 'daemon'; readonly onMigration: (event: MigrationEvent) => void };

/** An open database of this version's schema. */
export interface Engine {
  readonly db: Knex;
  /** Connections that only read. */
  readonly reads: Knex;
  /** One connection for searches that read every row, so that other lists and searches do not wait for them. */
  readonly scans: Knex;
  /** Reads what other processes have changed. On PostgreSQL one connection, so that it never waits for work of this process. */
  readonly following: Knex;
  heartbeats(recordActivity: RecordActivity, isNewBatch: IsNewBatch): HeartbeatStore;
  /** @param process GUID of this process */
  batches(process: string): IsNewBatch;
  /** SQL: milliseconds since the epoch by the clock of the database, as of the statement. */
  readonly nowMs: string;
  /** Whether several daemons may be on the database. */
  readonly isShared: boolean;
  /** null: no other daemon can be on the database. */
  liveSessions(process: string, recordChange: RecordChange): LiveSessionStore | null;
  /** null: no other daemon can be on the database. */
  permits(process: string, recordChange: RecordChange): PermitStore | null;
  /** null: no other daemon can be on the database. */
  penalties(recordChange: RecordChange): PenaltyStore | null;
  /** What other daemons write of accounts, and how it is announced to them. null: there are none. */
  activity(origin: string): Promise<ActivityFeed> | null;
  activityRecorder(origin: string): RecordActivity;
  /** The snapshot of a statement, as SQL, and what its text means; null: no other process adds traffic. */
  readonly snapshot: { readonly sql: string; parse(text: string): AsOf } | null;
  /** Makes other transactions that store runs wait until `trx` ends: the order of ids is the order of storing. */
  lockQueue(trx: Knex): Promise<unknown>;
  /** Makes other transactions that write authorized addresses wait until `trx` ends: each sees those of the others. */
  lockAddresses(trx: Knex): Promise<unknown>;
  /** An index of the log of logins; null where searches read every row. */
  readonly loginSearch: LoginSearch | null;
  /** @param origin GUID of this process's store: its own changes are not read back */
  changes(origin: string, now: Clock): Promise<{ readonly record: RecordChange; readonly feed: ChangeFeed }>;
  size(): Promise<number | null>;
  backup(path: string): Promise<void>;
  /** For the daemon: says what keeps the database from being relied on. One at a time. Never rejects. */
  check(): Promise<StorageFault | null>;
  /** Whether an error is the database's, and not of the query or what it was given. */
  isFault(error: unknown): boolean;
  close(): Promise<void>;
}
