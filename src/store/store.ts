// Opens the database and hands out one repository a table.
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { Clock } from '../core/clock.js';
import { StartError } from '../core/errors.js';
import type { Store } from '../core/ports.js';
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
import { migrate } from './migrate.js';
import { createNoticeStore } from './notices.js';
import { createRunStore } from './runs.js';
import { createSampleStore } from './samples.js';
import { createSettingStore } from './settings.js';
import { connectSqlite, prepareSqlite } from './sqlite.js';
import { backupSqlite } from './sqlite-backup.js';
import { toStartError } from './sqlite-errors.js';
import { prepareFile, prepareFolder, sqliteFile } from './sqlite-files.js';
import { createSqliteHeartbeatStore } from './sqlite-heartbeats.js';

export { type RestoreOptions, restoreStore } from './sqlite-restore.js';

export interface StoreOptions {
  /** Folder of the SQLite file; made if missing. */
  readonly dataDir: string;
  readonly client: 'sqlite3' | 'pg';
  /** How long a write waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Stamps the list of changes; the system clock by default. */
  readonly now?: Clock;
}

/**
 * Opens the database, made and brought up to date if need be.
 * @throws StartError `data-dir-unusable`, `database-corrupt`, `database-foreign`, `database-newer`,
 *   `database-locked`, `disk-full`, `database-unsupported`
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.client !== 'sqlite3') {
    throw new StartError(
      'database-unsupported',
      `database.client: ${options.client} is not supported by this version. Use sqlite3.`,
    );
  }
  const file = sqliteFile(options.dataDir);
  try {
    await prepareFolder(options.dataDir);
    await prepareFile(file);
  } catch (error) {
    throw toStartError(error, file);
  }
  const db = connectSqlite(file, options.busyTimeoutMs);
  try {
    await prepareSqlite(db, file, options.busyTimeoutMs);
    await migrate(db, file);
    return await createStore(db, file, options.now ?? Date.now);
  } catch (error) {
    await db.destroy();
    throw toStartError(error, file);
  }
}

async function createStore(db: Knex, file: string, now: Clock): Promise<Store> {
  const origin = randomUUID();
  const recordChange = createChangeRecorder(origin, now);
  const recordAudit = createAuditRecorder(now);
  return {
    accounts: createAccountStore(db, recordChange, recordAudit),
    heartbeats: createSqliteHeartbeatStore(db),
    settings: createSettingStore(db, recordChange, recordAudit),
    audit: createAuditStore(db, recordAudit),
    consoleSessions: createConsoleSessionStore(db),
    apiTokens: createApiTokenStore(db, recordAudit),
    logins: createLoginStore(db),
    notices: createNoticeStore(db),
    samples: createSampleStore(db),
    heartbeatSums: createHeartbeatSumStore(db),
    limits: createLimitStore(db, recordChange, recordAudit),
    runs: createRunStore(db),
    deliveries: createDeliveryStore(db),
    agentSessions: createAgentSessionStore(db),
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
    close: () => db.destroy(),
  };
}
