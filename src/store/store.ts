// Opens the database and creates one repository per table.
import { randomUUID } from 'node:crypto';
import type { PermitStore } from '../core/accounts/access/held-permits.js';
import type { LoginStore } from '../core/accounts/access/login-log.js';
import type { AccountStore } from '../core/accounts/account-store.js';
import type { PlayerLinkStore } from '../core/accounts/player/player-links.js';
import type { ActivityFeed } from '../core/accounts/usage/activity-feed.js';
import { Calendar } from '../core/accounts/usage/calendar.js';
import type { TrafficStore } from '../core/accounts/usage/traffic-store.js';
import type { AgentSessionStore, DeliveryStore, RunStore } from '../core/agents/run-store.js';
import type { AuditStore } from '../core/audit/audit.js';
import type { ApiTokenStore } from '../core/auth/api-tokens.js';
import type { ConsoleSessionStore } from '../core/auth/console-sessions.js';
import type { OperatorStore } from '../core/auth/operator.js';
import type { PenaltyStore } from '../core/auth/penalties.js';
import type { Clock } from '../core/clock.js';
import { codeOf } from '../core/errors.js';
import type { HeartbeatStore } from '../core/heartbeats/heartbeat.js';
import type { HeartbeatSumStore } from '../core/heartbeats/heartbeat-sums.js';
import type { NodeStore } from '../core/nodes/nodes.js';
import type { ConfirmationStore } from '../core/notices/confirmations.js';
import type { NoticeStore } from '../core/notices/notice.js';
import type { LiveSessionStore } from '../core/sessions/session.js';
import type { CounterStore, SettingStore } from '../core/settings/setting.js';
import type { SampleStore } from '../core/stats/history.js';
import type { StorageFault } from '../core/storage.js';
import type { SessionRecordStore } from '../core/trace/session-record.js';
import type { DaemonEvents, Database, Opener } from './database.js';
import type { ChangeFeed } from './follow-changes.js';
import type { PgOptions } from './pg/database.js';
import { openSqlite, type SqliteOptions } from './sqlite/database.js';
import { toStartError } from './sqlite/errors.js';
import { sqliteFile } from './sqlite/files.js';
import { createAccountStore } from './tables/accounts.js';
import { createAgentSessionStore } from './tables/agent-sessions.js';
import { createAuditRecorder, createAuditStore } from './tables/audit.js';
import { createDeliveryStore } from './tables/deliveries.js';
import { createLoginStore } from './tables/logins.js';
import { createNodeStore } from './tables/nodes.js';
import { createNoticeStore } from './tables/notices.js';
import { createOperatorStore } from './tables/operators.js';
import { createConfirmationStore, createPlayerLinkStore } from './tables/players.js';
import { createRunStore } from './tables/runs.js';
import { createSessionRecordStore } from './tables/session-records.js';
import { createSettingStore } from './tables/settings.js';
import { createApiTokenStore, createConsoleSessionStore } from './tables/sign-ins.js';
import { createHeartbeatSumStore, createSampleStore } from './tables/statistics.js';
import { createTrafficStore } from './tables/traffic.js';

export type { MigrationEvent } from './database.js';
export type { Keep, RestoredContents } from './restored-contents.js';
export { type Restored, type RestoreOptions, restoreStore } from './sqlite/restore.js';

export type StoreOptions = (SqliteOptions | PgOptions) & {
  /** The clock for the change log and the ids of runs. Default: the system clock. */
  readonly now?: Clock;
};

export type DaemonStoreOptions = StoreOptions & DaemonEvents;

/** The repositories of an open, migrated database. */
export interface Store {
  readonly accounts: AccountStore;
  readonly heartbeats: HeartbeatStore;
  readonly settings: SettingStore & CounterStore;
  readonly traffic: TrafficStore;
  readonly audit: AuditStore;
  readonly consoleSessions: ConsoleSessionStore;
  readonly apiTokens: ApiTokenStore;
  readonly operators: OperatorStore;
  readonly logins: LoginStore;
  readonly sessionRecords: SessionRecordStore;
  readonly playerLinks: PlayerLinkStore;
  /** GUID of this process, which identifies it in the database. */
  readonly process: string;
  /** The days of `traffic` and of the budgets of sellers. UTC until its owner sets the zones. */
  readonly calendar: Calendar;
  readonly nodes: NodeStore;
  /** The activity of accounts on other daemons; null: no other daemon can use the database. */
  readonly activity: ActivityFeed | null;
  /** null: no other daemon can use the database. */
  readonly liveSessions: LiveSessionStore | null;
  /** null: no other daemon can use the database. */
  readonly permits: PermitStore | null;
  /** null: no other daemon can use the database. */
  readonly penalties: PenaltyStore | null;
  readonly notices: NoticeStore;
  readonly contactCodes: ConfirmationStore;
  readonly samples: SampleStore;
  readonly heartbeatSums: HeartbeatSumStore;
  readonly runs: RunStore;
  readonly deliveries: DeliveryStore;
  readonly agentSessions: AgentSessionStore;
  readonly changes: ChangeFeed;
  /** Size of the database on disk, in bytes; null when it is unknown. */
  size(): Promise<number | null>;
  /** Resolves when the database answers; rejects with its error. */
  ping(): Promise<void>;
  /** Writes a complete copy of the database, even while it is in use, to a new file `path`. Rejects when the file exists. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

export interface DaemonStore extends Store {
  /** Checks the database, and returns its problem; null: none. Call it one at a time. Never rejects. */
  check(): Promise<StorageFault | null>;
}

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
export async function openStore(options: StoreOptions): Promise<Store> {
  return createStore(await openDatabase(options, { is: 'command' }), options.now ?? Date.now);
}

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

async function createStore(database: Database, now: Clock): Promise<Store> {
  const { db, reads, scans } = database;
  const process = randomUUID();
  const calendar = new Calendar();
  const recordAudit = createAuditRecorder(now);
  const recordActivity = database.activityRecorder(process);
  const isNewBatch = database.batches(process);
  const { record: recordChange, feed } = await database
    .changes(process, now)
    .catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
  return {
    accounts: createAccountStore(database, recordChange, recordAudit, recordActivity, now, calendar),
    heartbeats: database.heartbeats(recordActivity, isNewBatch),
    activity: await database.activity(process),
    settings: createSettingStore(database, recordChange, recordAudit),
    audit: createAuditStore(db, reads, scans, recordAudit),
    consoleSessions: createConsoleSessionStore(database, recordChange),
    apiTokens: createApiTokenStore(database, recordChange, recordAudit),
    operators: createOperatorStore(database, recordChange, recordAudit),
    logins: createLoginStore(db, reads, scans, database.loginSearch),
    sessionRecords: createSessionRecordStore(database, isNewBatch),
    playerLinks: createPlayerLinkStore(db, recordAudit),
    process,
    calendar,
    liveSessions: database.liveSessions(process, recordChange),
    permits: database.permits(process, recordChange),
    penalties: database.penalties(recordChange),
    nodes: createNodeStore(database, recordChange, recordAudit),
    notices: createNoticeStore(db),
    contactCodes: createConfirmationStore(db),
    samples: createSampleStore(db),
    heartbeatSums: createHeartbeatSumStore(db, reads),
    traffic: createTrafficStore(db, recordActivity, isNewBatch, database.snapshot),
    runs: createRunStore(db, database, now),
    deliveries: createDeliveryStore(db),
    agentSessions: createAgentSessionStore(db, reads, scans),
    changes: feed,
    size: database.size,
    async ping() {
      await db.raw('select 1');
    },
    backup: database.backup,
    close: database.close,
  };
}
