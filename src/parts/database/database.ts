// Opens and migrates the database of the daemon, and watches whether it is writable.
import type { Config } from '../../config.js';
import type { Log } from '../../core/log.js';
import { nodeTimers } from '../../core/timers.js';
import { type SqlitePackage, sqlitePackage } from '../../store/sqlite/package.js';
import { createStorageWatch, type StorageWatch } from '../../store/storage-watch.js';
import {
  type DaemonStore,
  type MigrationEvent,
  openDaemonStore,
  type StoreOptions,
} from '../../store/store.js';
import { hasCaller } from '../callers.js';
import type { Part } from '../lifecycle.js';
import { connectionOf } from './connection-string.js';

/** Opens, locks and migrates the database. Throws StartError. */
export async function createDatabasePart(config: Config, log: Log) {
  const onMigration = (event: MigrationEvent) => reportMigration(log, event);
  const onLogSetAside = (path: string) =>
    log.warn({ path }, 'database was replaced; write-ahead log of the previous one set aside');
  const store = await openDaemonStore({ ...storeOptions(config), onMigration, onLogSetAside });
  if (config.database.client !== 'pg') reportPackage(log, sqlitePackage(config.database.client));
  return { name: 'database', store, stop: () => store.close() };
}

/** `log` is the log for background tasks: it suppresses errors that follow from a known problem of the database. */
export type StoragePart = Part & Pick<StorageWatch, 'problem' | 'log'>;

export function createStoragePart(config: Config, store: DaemonStore, log: Log): StoragePart {
  const watch = createStorageWatch({
    check: store.check,
    intervalMs: config.database.checkIntervalMs,
    log,
    monotonicNow: () => performance.now(),
    timers: nodeTimers,
  });
  return { name: 'storage', ...watch };
}

/** The options of the store from the configuration. @throws StartError `secret-file` for database.connectionFile */
export function storeOptions({ dataDir, database }: Pick<Config, 'dataDir' | 'database'>): StoreOptions {
  const reading = { readers: database.readers, timeoutMs: database.readTimeoutMs };
  const { client } = database;
  if (client !== 'pg') return { client, dataDir, busyTimeoutMs: database.busyTimeoutMs, hasCaller, reading };
  const { poolSize, answerTimeoutMs: answerMs } = database;
  return { client, dataDir, connection: connectionOf(database), poolSize, answerMs, reading };
}

/** `pg`, or the database package of the SQLite file. */
export function databaseName({ database: { client } }: Config): string {
  return client === 'pg' ? client : sqlitePackage(client).name;
}

function reportPackage(log: Log, { name, unusable }: SqlitePackage): void {
  const isFirst = Object.keys(unusable).length === 0;
  log.info(isFirst ? { package: name } : { package: name, unusable }, 'database package loaded');
}

function reportMigration(log: Log, event: MigrationEvent): void {
  if (event.kind === 'started') {
    const { missing, copy } = event;
    const text = 'migrating database from an older version';
    return log.info(copy === null ? { missing } : { missing, copy }, text);
  }
  log.info({ ran: event.ran, tookMs: event.tookMs }, 'database migrated');
}
