// What the tables need of a database: its connections, and what differs between SQLite and PostgreSQL. Opened by
// sqlite/database.ts and pg/database.ts.
import type { Knex } from 'knex';
import knex from 'knex';
import type { PermitStore } from '../core/accounts/access/held-permits.js';
import type { Calendar } from '../core/accounts/usage/calendar.js';
import type { DatabaseSnapshot } from '../core/accounts/usage/limits.js';
import type { ActivityFeed } from '../core/accounts/usage/traffic-store.js';
import type { AuditRecord } from '../core/audit/audit.js';
import type { PenaltyStore } from '../core/auth/penalties.js';
import { QueryTooSlowError, type StorageFault } from '../core/errors.js';
import type { LiveSessionStore } from '../core/sessions/session.js';
import type { Clock } from '../core/time/clock.js';
import type { ChangeFeed, RecordChange } from './follow-changes.js';

/** The connections for read-only queries, and the time limit of each query. */
export interface ReaderOptions {
  /** Most connections. Each may occupy a thread. */
  readonly readers: number;
  /** Time limit of a query, and also of its wait for a connection, in ms. */
  readonly timeoutMs: number;
}

export interface OpenOptions {
  /** Folder of the SQLite file, or beside a server for other files: the control socket, unfinished uploads. Created if missing. */
  readonly dataDir: string;
  /** Connections for lists and searches. */
  readonly reading?: ReaderOptions;
  /** False: throws `database-missing` instead of creating a new database. Default: true. */
  readonly mayCreate?: boolean;
}

/** The default, for commands, which read little. */
export const DEFAULT_READING: ReaderOptions = { readers: 1, timeoutMs: 60_000 };

/** Events of a migration at the start of the daemon. */
export type MigrationEvent =
  /** `copy`: the file to which the database is copied first; null: it is not copied. */
  | { readonly kind: 'started'; readonly missing: readonly string[]; readonly copy: string | null }
  | { readonly kind: 'finished'; readonly ran: readonly string[]; readonly tookMs: number };

/** The opener of the database: a command, which never migrates an existing database, or the daemon. */
export type Opener = { readonly is: 'command' } | ({ readonly is: 'daemon' } & DaemonEvents);

export interface DaemonEvents {
  readonly onMigration: (event: MigrationEvent) => void;
  /** A write-ahead log of another file was moved to `path`, because the database had been replaced. */
  readonly onLogSetAside?: (path: string) => void;
}

/** An open database with the schema of this version. */
export interface Database {
  readonly db: Knex;
  readonly reads: Knex;
  /** One read-only connection for searches that read every row, so that other lists and searches do not wait for them. */
  readonly scans: Knex;
  /** Reads what other processes have changed. On PostgreSQL one connection, so that it never waits for work of this process. */
  readonly following: Knex;
  /** SQL expression: the time of the statement by the clock of the database, in ms since the epoch. */
  readonly nowMs: string;
  /** Whether several daemons can use the database. */
  readonly isShared: boolean;
  /** SQL for the snapshot of a statement, and the parser of its text; null: no other process writes traffic. */
  readonly snapshot: { readonly sql: string; parse(text: string): DatabaseSnapshot } | null;
  /**
   * Makes other transactions with this lock wait until `trx` ends: those that store runs, so that the order of ids is the order of
   * storing; that write authorized addresses, or add API tokens, so that each sees those of the others.
   */
  lock(trx: Knex, what: 'runs' | 'addresses' | 'tokens'): Promise<unknown>;
  /** The full-text index of the login log; null: searches read every row. */
  readonly loginSearch: LoginSearch | null;
  /** @param process GUID of this process: its own changes and activity are not read back */
  ofProcess(process: string, now: Clock): Promise<OfProcess>;
  /** Returns a check for one caller: whether any process may have written to the database since its last call. */
  watchWrites(): () => boolean;
  /** Size of the database on disk, in bytes; null when it is unknown. */
  size(): Promise<number | null>;
  /** Writes a complete copy of the database, even while it is in use, to a new file `path`. Rejects when the file exists. */
  backup(path: string): Promise<void>;
  /** For the daemon: checks the database, and returns its problem; null: none. Call it one at a time. Never rejects. */
  check(): Promise<StorageFault | null>;
  close(): Promise<void>;
}

/** What one process writes for the others, and reads of them. null: no other daemon can use the database. */
interface OfProcess {
  readonly recordChange: RecordChange;
  readonly changes: ChangeFeed;
  readonly recordActivity: RecordActivity;
  /** The activity of accounts on other daemons. */
  readonly activity: ActivityFeed | null;
  readonly isNewBatch: IsNewBatch;
  readonly liveSessions: LiveSessionStore | null;
  readonly permits: PermitStore | null;
  readonly penalties: PenaltyStore | null;
}

/** What the tables are made of. */
export interface StoreContext
  extends Database,
    Pick<OfProcess, 'recordChange' | 'recordActivity' | 'isNewBatch'> {
  readonly recordAudit: RecordAudit;
  readonly now: Clock;
  /** The days of `traffic` and of the budgets of sellers. UTC until the setting of time zones is open. */
  readonly calendar: Calendar;
}

/** Records changes and returns the ids of the entries. Call it with the transaction of the changes, so that both or neither are stored. */
export type RecordAudit = (
  trx: Knex,
  records: readonly (AuditRecord | null | undefined)[],
) => Promise<readonly string[]>;

export interface LoginSearch {
  /** Whether the index can find `text`. */
  covers(text: string): boolean;
  /** The rows of the index that contain `text` in user name or address, ignoring case. */
  rows(db: Knex, text: string): Knex.QueryBuilder;
  /** The column of the index that contains the `id` of a login. */
  readonly id: string;
}

export interface ActivityRow {
  readonly account_id: string;
  readonly kind: 'traffic' | 'login' | 'heartbeats';
  readonly day?: number;
  readonly bytes_up?: number;
  readonly bytes_down?: number;
  readonly login_at?: number;
}

export type RecordActivity = (trx: Knex, rows: readonly ActivityRow[]) => Promise<void>;

/**
 * Records a batch of this process as written. Call it first in the transaction that writes the batch.
 * @param number of the batch, which increases for each kind
 * @returns false when the batch is already written
 */
export type IsNewBatch = (
  trx: Knex,
  kind: 'heartbeats' | 'traffic' | 'sessions',
  number: number,
) => Promise<boolean>;

/** Acquires a connection of the pool. Rejects with QueryTooSlowError when none becomes free in time. */
export async function acquireReader(acquire: () => Promise<unknown>): Promise<unknown> {
  try {
    return await acquire();
  } catch (error) {
    if (!(error instanceof knex.KnexTimeoutError)) throw error;
    throw new QueryTooSlowError('busy', 'all read-only connections are busy', { cause: error });
  }
}
