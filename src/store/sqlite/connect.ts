// Opens a SQLite file: one connection that writes, in WAL mode, and a few that read, so that a search does not delay writes. In WAL
// mode they read committed data while another connection writes (https://www.sqlite.org/wal.html#concurrency).
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import knex, { type Knex } from 'knex';
import { codeOf, QueryTooSlowError } from '../../core/errors.js';
import { acquireReader, type ReaderOptions } from '../database.js';
import { corrupt, foreign } from './errors.js';
import type { SqliteConfig } from './knex-client.js';
import { accessFor, ImmediateSqliteClient, sqliteConfig, waitForLock } from './knex-client.js';
import type { SqlitePackageChoice } from './package.js';

/** "PGTE": marks a database of Pulsegate in its header (https://www.sqlite.org/fileformat2.html#application_id). */
const APPLICATION_ID = 0x50475445;

/** Every page of a file up to this size is checked at every start. Larger files would take too long. */
const CHECKED_UP_TO_BYTES = 64 * 1024 * 1024;

/** Longest wait of SQLite itself for a lock, in ms. It cannot be interrupted, not even by a stop. */
const BUSY_SLICE_MS = 250;

/** How often the pool looks for connections to close, which are unused for 30 s, in ms. */
const REAP_EVERY_MS = 30_000;

/** A connection, as far as it is used here. */
interface RawConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  interrupt(): void;
}

/**
 * knex on one connection to `file`, because SQLite has only one writer at a time, and the queries of this process then run in order.
 * Waits up to `busyTimeoutMs` for the lock of another process.
 * @throws StartError `database-client-unusable`
 */
export function connectSqlite(
  choice: SqlitePackageChoice,
  file: string,
  busyTimeoutMs: number,
  hasCaller = () => true,
): Knex {
  const settings = `
    pragma busy_timeout = ${Math.round(Math.min(busyTimeoutMs, BUSY_SLICE_MS))};
    pragma foreign_keys = on;
    pragma synchronous = full;`;
  const access = accessFor(busyTimeoutMs, hasCaller);
  return knex({
    ...sqliteConfig(ImmediateSqliteClient, choice, access),
    connection: { filename: file },
    pool: {
      min: 1,
      max: 1,
      reapIntervalMillis: REAP_EVERY_MS,
      // The last setting reads the schema, for which it may have to wait.
      afterCreate: (connection: RawConnection, done: (error: Error | null) => void) => {
        const exec = promisify((sql: string, ended: typeof done) => connection.exec(sql, ended));
        waitForLock(access, () => exec(settings)).then(() => done(null), done);
      },
    },
  });
}

/**
 * Checks that the file is undamaged and a database of Pulsegate, and enables WAL mode.
 * @throws StartError `database-corrupt`, `database-foreign`; otherwise the error of SQLite
 */
export async function prepareSqlite(db: Knex, file: string): Promise<void> {
  await verifySqlite(db, file, CHECKED_UP_TO_BYTES);
  await db.raw('pragma journal_mode = wal');
  if ((await pragma(db, 'application_id')) !== APPLICATION_ID) await writeApplicationId(db);
}

/** Marks the file as a database of Pulsegate. Writes to the disk even if the mark exists, so that the storage check can use it. */
export async function writeApplicationId(db: Knex): Promise<void> {
  await db.raw(`pragma application_id = ${APPLICATION_ID}`);
}

/**
 * Checks that the file is a database of Pulsegate and undamaged.
 * @param checkedUpToBytes of larger files only the schema is read
 * @returns false when the database is empty
 * @throws StartError `database-corrupt`, `database-foreign`
 */
export async function verifySqlite(db: Knex, file: string, checkedUpToBytes: number): Promise<boolean> {
  const tables: unknown[] = await db('sqlite_master').select('name');
  if (tables.length > 0 && (await pragma(db, 'application_id')) !== APPLICATION_ID) throw foreign(file);
  if ((await stat(file)).size <= checkedUpToBytes) {
    const found = await pragma(db, 'quick_check', '(1)');
    if (found !== 'ok') throw corrupt(file, new Error(String(found)));
  }
  return tables.length > 0;
}

/** The first value that a pragma returns. */
async function pragma(db: Knex, name: string, argument = ''): Promise<unknown> {
  const rows: Record<string, unknown>[] = await db.raw(`pragma ${name}${argument}`);
  return Object.values(rows[0] ?? {})[0];
}

/** While the connections are being closed. */
const INTERRUPT_EVERY_MS = 10;

type ReaderConfig = SqliteConfig & { readonly timeoutMs: number };

class ReadingClient extends ImmediateSqliteClient {
  readonly #busy = new Set<RawConnection>();

  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    this.refuseWhenClosing();
    const { timeoutMs } = this.config as ReaderConfig;
    const reader = connection as RawConnection;
    // Again and again, because an interrupt that comes before the query has begun in its thread has no effect.
    const timer = setInterval(() => reader.interrupt(), timeoutMs);
    this.#busy.add(reader);
    try {
      return await super._query(connection, statement);
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_INTERRUPT') throw error;
      throw new QueryTooSlowError('slow', `query exceeded its time limit of ${timeoutMs} ms`, {
        cause: error,
      });
    } finally {
      clearInterval(timer);
      this.#busy.delete(reader);
    }
  }

  /** Interrupts running searches, and refuses further ones, so that the stop does not wait for them. */
  override destroy(): Promise<void> {
    const timer = setInterval(() => {
      for (const reader of this.#busy) reader.interrupt();
    }, INTERRUPT_EVERY_MS);
    return super.destroy().finally(() => clearInterval(timer));
  }

  override acquireConnection(): Promise<unknown> {
    return acquireReader(() => super.acquireConnection());
  }
}

/**
 * knex on a few read-only connections to `file`, opened when needed. A query that exceeds its time limit rejects with
 * QueryTooSlowError.
 */
export function connectReaders(
  choice: SqlitePackageChoice,
  file: string,
  { readers, timeoutMs }: ReaderOptions,
): Knex {
  const config: ReaderConfig = {
    ...sqliteConfig(ReadingClient, choice, accessFor(timeoutMs)),
    timeoutMs,
    // Without OPEN_CREATE: reading a missing database must fail.
    connection: { filename: file, flags: ['OPEN_READWRITE'] },
    acquireConnectionTimeout: timeoutMs,
    pool: {
      min: 0,
      max: readers,
      reapIntervalMillis: REAP_EVERY_MS,
      afterCreate: (connection: RawConnection, done: (error: Error | null) => void) =>
        connection.exec('pragma query_only = on; pragma busy_timeout = 100;', done),
    },
  };
  return knex(config);
}
