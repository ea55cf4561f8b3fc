// Opens the database and creates one repository per table.
import { randomUUID } from 'node:crypto';
import { Calendar } from '../core/accounts/usage/calendar.js';
import { codeOf } from '../core/errors.js';
import type { Clock } from '../core/time/clock.js';
import type { DaemonEvents, Database, Opener, StoreContext } from './database.js';
import type { PgOptions } from './pg/database.js';
import { openSqlite, type SqliteOptions } from './sqlite/database.js';
import { toStartError } from './sqlite/errors.js';
import { sqliteFile } from './sqlite/files.js';
import { createApiTokenStore, createConsoleSessionStore } from './tables/access.js';
import { createAccountStore } from './tables/accounts.js';
import { createAgentSessionStore } from './tables/agent-sessions.js';
import { createHeartbeatStore } from './tables/heartbeats.js';
import { createAuditRecorder, createAuditStore, createLoginStore } from './tables/logs.js';
import { createNodeStore } from './tables/nodes.js';
import { createNoticeStore } from './tables/notices.js';
import { createOperatorStore } from './tables/operators.js';
import { createConfirmationStore, createPlayerLinkStore } from './tables/players.js';
import { createDeliveryStore } from './tables/runners.js';
import { createRunStore } from './tables/runs.js';
import { createSessionRecordStore } from './tables/session-records.js';
import { createSettingStore } from './tables/settings.js';
import { createHeartbeatSumStore, createSampleStore } from './tables/statistics.js';
import { createTrafficReportStore, createTrafficStore } from './tables/traffic.js';

export type { MigrationEvent } from './database.js';

export type StoreOptions = (SqliteOptions | PgOptions) & {
  /** The clock for the change log and the ids of runs. Default: the system clock. */
  readonly now?: Clock;
};

type DaemonStoreOptions = StoreOptions & DaemonEvents;

/** The repositories of an open, migrated database. */
export type Store = Awaited<ReturnType<typeof createStore>>;

export interface DaemonStore extends Store, Pick<Database, 'check'> {}

/** Converts an error of the database during the start into a StartError with instructions; returns other errors unchanged. */
export async function explainStartError(error: unknown, options: StoreOptions): Promise<unknown> {
  if (options.client === 'pg')
    return (await import('./pg/errors.js')).explainPgError(error, options.connection);
  return codeOf(error)?.startsWith('SQLITE_') ? toStartError(error, sqliteFile(options.dataDir)) : error;
}

/**
 * Opens the database for a command, while a daemon uses it or not. Creates a missing database, but never migrates.
 * @throws StartError `database-missing`, `database-foreign`, `database-newer`, `database-older`, `disk-full`; of SQLite
 *   `data-dir-unusable`, `database-corrupt`, `database-locked`, `database-client-unusable`; of PostgreSQL as `openPg`
 */
export const openStore = async (options: StoreOptions): Promise<Store> =>
  createStore(await openDatabase(options, { is: 'command' }), options.now ?? Date.now);

/**
 * Opens the database for the daemon: locks the data folder until `close`, and migrates the database.
 * @throws StartError as `openStore`, and `daemon-running`
 */
export async function openDaemonStore(options: DaemonStoreOptions): Promise<DaemonStore> {
  const database = await openDatabase(options, { ...options, is: 'daemon' });
  const store = await createStore(database, options.now ?? Date.now);
  return { ...store, check: database.check };
}

/** The code for PostgreSQL is loaded only when it is configured. */
async function openDatabase(options: StoreOptions, opener: Opener): Promise<Database> {
  if (options.client !== 'pg') return openSqlite(options, opener);
  const { openPg } = await import('./pg/database.js');
  return openPg(options, opener);
}

async function createStore(database: Database, now: Clock) {
  /** GUID of this process, which identifies it in the database. */
  const process = randomUUID();
  const calendar = new Calendar();
  const { liveSessions, permits, penalties, activity, changes, ...recording } = await database
    .ofProcess(process, now)
    .catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
  const context: StoreContext = {
    ...database,
    ...recording,
    recordAudit: createAuditRecorder(now, database.isShared),
    now,
    calendar,
  };
  return {
    process,
    calendar,
    changes,
    activity,
    liveSessions,
    permits,
    penalties,
    accounts: createAccountStore(context),
    heartbeats: createHeartbeatStore(context),
    settings: createSettingStore(context),
    audit: createAuditStore(context),
    consoleSessions: createConsoleSessionStore(context),
    apiTokens: createApiTokenStore(context),
    operators: createOperatorStore(context),
    logins: createLoginStore(context),
    sessionRecords: createSessionRecordStore(context),
    playerLinks: createPlayerLinkStore(context),
    nodes: createNodeStore(context),
    notices: createNoticeStore(context),
    contactCodes: createConfirmationStore(context),
    samples: createSampleStore(context),
    heartbeatSums: createHeartbeatSumStore(context),
    traffic: createTrafficStore(context),
    trafficReport: createTrafficReportStore(context),
    runs: createRunStore(context),
    deliveries: createDeliveryStore(context),
    agentSessions: createAgentSessionStore(context),
    size: database.size,
    watchWrites: database.watchWrites,
    /** Resolves when the database answers; rejects with its error. */
    async ping() {
      await database.db.raw('select 1');
    },
    backup: database.backup,
    close: database.close,
  };
}
