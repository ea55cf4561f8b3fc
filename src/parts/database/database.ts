// Opens and migrates the database of the daemon, and watches whether it is usable: logs the problem and its end once.
import { readSecretFile } from '../../agents/secrets.js';
import type { Config } from '../../config.js';
import {
  STORAGE_PROBLEMS,
  type StorageFault,
  type StorageProblem,
  storageProblemOf,
} from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { MINUTE_MS } from '../../core/time/clock.js';
import { createPoller, nodeTimers, type Timers } from '../../core/time/timers.js';
import { once } from '../../core/time/turns.js';
import { type SqlitePackage, sqlitePackage } from '../../store/sqlite/package.js';
import {
  type DaemonStore,
  type MigrationEvent,
  openDaemonStore,
  type StoreOptions,
} from '../../store/store.js';
import { hasCaller } from '../callers.js';
import type { Part } from '../lifecycle.js';

/** Opens, locks and migrates the database. Throws StartError. */
export async function createDatabasePart(config: Config, log: Log) {
  const onMigration = (event: MigrationEvent) => reportMigration(log, event);
  const onLogSetAside = (path: string) =>
    log.warn({ path }, 'database was replaced; write-ahead log of the previous one set aside');
  const store = await openDaemonStore({ ...storeOptions(config), onMigration, onLogSetAside });
  if (config.database.client !== 'pg') reportPackage(log, sqlitePackage(config.database.client));
  const stop = once(store.close);
  // A file is written, and is closed by the end of the process: sessions do not wait for it. A server notices that later.
  const handOver = config.database.client === 'pg' ? stop : () => {};
  return { name: 'database', store, stop, handOver };
}

/** `log` is the log for background tasks: it suppresses errors that follow from a known problem of the database. */
export type StoragePart = Part & Pick<StorageWatch, 'problem' | 'log' | 'endedTroubles'>;

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

type StorageWatch = ReturnType<typeof createStorageWatch>;

/** How long a result is reused, in ms. */
const FRESH_MS = 1000;
/** How long a problem that has ended is announced again, which has no effect once an announcement is written; in ms. */
const ENDED_MS = 10 * MINUTE_MS;

function createStorageWatch(deps: {
  readonly check: () => Promise<StorageFault | null>;
  readonly intervalMs: number;
  readonly log: Log;
  readonly monotonicNow: () => number;
  readonly timers: Timers;
}) {
  const { check, log, monotonicNow } = deps;
  let current: StorageProblem | null = null;
  let since = 0;
  let ended: { readonly problem: StorageProblem; readonly since: number; readonly until: number }[] = [];
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;

  const poller = createPoller({
    intervalMs: deps.intervalMs,
    async poll() {
      const fault = await check();
      checkedAt = monotonicNow();
      setFault(fault);
    },
    onError: (err) => log.error({ err }, 'checking the database failed'),
    timers: deps.timers,
  });

  function setFault(fault: StorageFault | null): void {
    const problem = fault?.problem ?? null;
    // During the stop the database may be closed under a slow check: only the first problem is logged.
    if (problem === current || (isStopping && current !== null)) return;
    if (current === null) since = monotonicNow();
    else if (problem === null) {
      const until = Date.now();
      ended.push({ problem: current, since: until - Math.round(monotonicNow() - since), until });
    }
    current = problem;
    if (fault) {
      const { problem, error } = fault;
      log.error(
        { problem, description: STORAGE_PROBLEMS[problem], ...(error ? { err: error } : {}) },
        'database lost',
      );
    } else log.info({ outageMs: Math.round(monotonicNow() - since) }, 'database recovered');
  }

  function stopPolling(): Promise<void> {
    isStopping = true;
    return poller.stop();
  }

  async function checkNow(): Promise<StorageProblem | null> {
    await poller.poll();
    return current;
  }

  /** Logs an error, unless a problem of the storage explains it. */
  async function logUnlessExplained(
    fields: Readonly<Record<string, unknown>>,
    message: string,
  ): Promise<void> {
    const problem = current ?? (await checkNow());
    log[problem === null ? 'error' : 'debug'](fields, message);
  }

  return {
    /** The problem of the database as of the last second; null: none. Never rejects. */
    async problem(): Promise<StorageProblem | null> {
      // While there is a problem only the timer checks, so that callers do not wait for a lock.
      return current !== null || monotonicNow() - checkedAt < FRESH_MS ? current : checkNow();
    },

    /** The problems that have ended lately, with the time of each: the database may not take the first announcement of one either. */
    endedTroubles() {
      ended = ended.filter(({ until }) => Date.now() - until < ENDED_MS);
      return ended;
    },

    /** A log for background tasks. It suppresses errors that follow from a known problem of the storage, which this watch logs once. */
    log: {
      debug: (fields, message) => log.debug(fields, message),
      info: (fields, message) => log.info(fields, message),
      warn: (fields, message) => log.warn(fields, message),
      error(fields, message) {
        if (storageProblemOf(fields['err']) !== null) void logUnlessExplained(fields, message);
        else log.error(fields, message);
      },
    } satisfies Log,

    start: poller.start,

    handOver: stopPolling,

    /** Checks a last time. Rejects when written data may be lost. */
    async stop(): Promise<void> {
      await stopPolling();
      const problem = await checkNow();
      if (problem) throw new Error(STORAGE_PROBLEMS[problem]);
    },
  };
}

/** The connection string of a PostgreSQL database. The schema guarantees that exactly one of the two is set. @throws StartError `secret-file` */
export function connectionOf({ connection, connectionFile }: Config['database']): string {
  return connection?.reveal() ?? readSecretFile(connectionFile, 'database.connectionFile') ?? '';
}
