// Opens the database and hands out one repository a table.
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { AccountStore } from '../core/accounts/account-store.js';
import type { LimitStore } from '../core/accounts/limit-store.js';
import type { LoginStore } from '../core/accounts/login-log.js';
import type { AgentSessionStore } from '../core/agents/agent-session-store.js';
import type { DeliveryStore } from '../core/agents/delivery-store.js';
import type { RunStore } from '../core/agents/run-store.js';
import type { AuditStore } from '../core/audit/audit.js';
import type { ApiTokenStore } from '../core/auth/api-tokens.js';
import type { ConsoleSessionStore } from '../core/auth/console-sessions.js';
import type { ChangeFeed } from '../core/changes.js';
import type { Clock } from '../core/clock.js';
import { StartError } from '../core/errors.js';
import { everyStep } from '../core/every-step.js';
import type { HeartbeatStore } from '../core/heartbeats/heartbeat-store.js';
import type { HeartbeatSumStore } from '../core/heartbeats/heartbeat-sums.js';
import type { NoticeStore } from '../core/notices/notices.js';
import type { SettingStore } from '../core/settings/setting-store.js';
import type { SampleStore } from '../core/stats/history.js';

import type { StorageFault } from '../core/storage.js';
import { createAccountStore } from './accounts.js';
import { createAgentSessionStore } from './agent-sessions.js';
import { createApiTokenStore } from './api-tokens.js';
import { createAuditRecorder, createAuditStore } from './audit.js';
import { createChangeFeed, createChangeRecorder } from './changes.js';
import { createConsoleSessionStore } from './console-sessions.js';
import { createDeliveryStore } from './deliveries.js';
import { createHeartbeatSumStore } from './heartbeat-sums.js';
import { createLimitStore } from './limits.js';
import { createLoginStore } from './logins.js';
import { type MigrationEvent, migrateOnlyNew, migrateWithCopy } from './migrate.js';
import { createNoticeStore } from './notices.js';
import { createRunStore } from './runs.js';
import { createSampleStore } from './samples.js';
import { createSettingStore } from './settings.js';
import { connectSqlite, prepareSqlite } from './sqlite.js';
import { backupSqlite } from './sqlite-backup.js';
import { createSqliteCheck } from './sqlite-check.js';
import { accessOf } from './sqlite-client.js';
import { type DaemonLock, lockForDaemon } from './sqlite-daemon-lock.js';
import { codeOf, toStartError } from './sqlite-errors.js';
import { prepareFile, prepareFolder, requireFile, sqliteFile } from './sqlite-files.js';
import { createSqliteHeartbeatStore } from './sqlite-heartbeats.js';
import { connectReaders, type ReaderOptions } from './sqlite-readers.js';

export type { MigrationEvent } from './migrate.js';
export type { Keep, RestoredContents } from './restored-contents.js';
export { type Restored, type RestoreOptions, restoreStore } from './sqlite-restore.js';

export interface StoreOptions {
  /** Folder of the SQLite file; made if missing. */
  readonly dataDir: string;
  readonly client: 'sqlite3' | 'pg';
  /** False: where there is no database yet none is made, and `database-missing` is thrown. True by default. */
  readonly mayCreate?: boolean;
  /** How long a write waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Connections for lists and searches. */
  readonly reading?: ReaderOptions;
  /** Stamps the list of changes and the ids of runs; the system clock by default. */
  readonly now?: Clock;
}

/** For commands, which read little. */
const DEFAULT_READING: ReaderOptions = { readers: 1, timeoutMs: 60_000 };

export interface DaemonStoreOptions extends StoreOptions {
  /** Told when a database of an older version is brought up to date. */
  readonly onMigration: (event: MigrationEvent) => void;
}

/** The repositories of an open, migrated database. */
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

/** The store of a daemon. */
export interface DaemonStore extends Store {
  /** Says what keeps the database from being relied on; null when nothing does. One at a time. Never rejects. */
  check(): Promise<StorageFault | null>;
}

/** An error of the database during the start, with what to do; others as they are. */
export function explainStartError(error: unknown, dataDir: string): unknown {
  return codeOf(error)?.startsWith('SQLITE_') ? toStartError(error, sqliteFile(dataDir)) : error;
}

/**
 * Opens the database for a command beside the daemon, or without one: made if need be, but never migrated.
 * @throws StartError `data-dir-unusable`, `database-missing`, `database-corrupt`, `database-foreign`, `database-newer`,
 *   `database-older`, `database-locked`, `disk-full`, `database-unsupported`, `sqlite3-unusable`
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  return (await open(options, migrateOnlyNew)).store;
}

/**
 * Opens the database for the daemon: it is the only daemon on it until `close`, and brings it up to date.
 * @throws StartError as `openStore`, and `daemon-running`
 */
export async function openDaemonStore(options: DaemonStoreOptions): Promise<DaemonStore> {
  const file = sqliteFile(options.dataDir);
  let lock: DaemonLock;
  try {
    await prepareFolder(options.dataDir);
    lock = await lockForDaemon(options.dataDir);
  } catch (error) {
    throw toStartError(error, file);
  }
  const { onMigration } = options;
  const bringUpToDate = (db: Knex) => migrateWithCopy(db, file, `${file}.before-migration`, onMigration);
  try {
    const { store, db } = await open(options, bringUpToDate);
    const check = await createSqliteCheck(db, file, accessOf(db));
    return { ...store, check: check.run, close: () => everyStep(store.close, check.close, lock.release) };
  } catch (error) {
    await lock.release();
    throw toStartError(error, file);
  }
}

async function open(
  options: StoreOptions,
  bringUpToDate: (db: Knex, file: string) => Promise<void>,
): Promise<{ store: Store; db: Knex }> {
  if (options.client !== 'sqlite3') {
    throw new StartError(
      'database-unsupported',
      `database.client: ${options.client} is not supported by this version. Use sqlite3.`,
    );
  }
  const file = sqliteFile(options.dataDir);
  // First, though nothing is opened yet: without its driver no file is to be made.
  const db = connectSqlite(file, options.busyTimeoutMs);
  const reads = connectReaders(file, options.reading ?? DEFAULT_READING);
  try {
    if (options.mayCreate ?? true) await prepareFolder(options.dataDir);
    else await requireFile(file);
    await prepareFile(file);
    await prepareSqlite(db, file);
    await bringUpToDate(db, file);
    return { store: await createStore({ db, reads }, file, options.now ?? Date.now), db };
  } catch (error) {
    await reads.destroy();
    await db.destroy();
    throw toStartError(error, file);
  }
}

async function createStore(
  { db, reads }: { readonly db: Knex; readonly reads: Knex },
  file: string,
  now: Clock,
): Promise<Store> {
  const origin = randomUUID();
  const recordChange = createChangeRecorder(origin, now);
  const recordAudit = createAuditRecorder(now);
  return {
    accounts: createAccountStore(db, recordChange, recordAudit),
    heartbeats: createSqliteHeartbeatStore(db, reads),
    settings: createSettingStore(db, recordChange, recordAudit),
    audit: createAuditStore(db, reads, recordAudit),
    consoleSessions: createConsoleSessionStore(db),
    apiTokens: createApiTokenStore(db, recordChange, recordAudit),
    logins: createLoginStore(db, reads),
    notices: createNoticeStore(db),
    samples: createSampleStore(db),
    heartbeatSums: createHeartbeatSumStore(db, reads),
    limits: createLimitStore(db, recordChange, recordAudit),
    runs: createRunStore(db, reads, now),
    deliveries: createDeliveryStore(db),
    agentSessions: createAgentSessionStore(db, reads),
    changes: await createChangeFeed(db, origin),
    async size() {
      const [files, log] = await Promise.all(
        [file, `${file}-wal`].map((name) => stat(name).catch(() => null)),
      );
      return files ? files.size + (log?.size ?? 0) : null;
    },
    async ping() {
      await db.raw('select 1');
    },
    backup: (target) => backupSqlite(db, target),
    close: () =>
      everyStep(
        () => reads.destroy(),
        () => db.destroy(),
      ),
  };
}
