// Opening a SQLite file: private, checked, in WAL mode, on one connection.
import { stat } from 'node:fs/promises';
import knex, { type Knex } from 'knex';
import { ImmediateSqliteClient, type SqliteConfig } from './sqlite-client.js';
import { loadDriver, type SqliteClientName } from './sqlite-driver.js';
import { corrupt, foreign } from './sqlite-errors.js';

/** "PGTE": marks a file as ours in its header (https://www.sqlite.org/fileformat2.html#application_id). */
const APPLICATION_ID = 0x50475445;

/** A file up to this size is checked page by page at every start; a larger one would take too long. */
const CHECKED_UP_TO_BYTES = 64 * 1024 * 1024;

/** Longest that SQLite itself waits for a lock, in ms. This wait cannot be interrupted, also not by a stop. */
const BUSY_SLICE_MS = 250;

/** knex also throws what it would print, and the thrown error is the one that is explained. */
const SILENT = { warn: () => {}, error: () => {} };

/** A connection, as far as the pool's hook needs it. */
interface RawConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
}

/**
 * knex on one connection to `file`: SQLite has one writer at a time anyway, and queries of this process then wait
 * their turn in order. Another process's lock is waited for up to `busyTimeoutMs`.
 * @throws StartError `database-client-unusable`
 */
export function connectSqlite(client: SqliteClientName, file: string, busyTimeoutMs: number): Knex {
  const settings = `
    pragma busy_timeout = ${Math.round(Math.min(busyTimeoutMs, BUSY_SLICE_MS))};
    pragma foreign_keys = on;
    pragma synchronous = full;`;
  const config: SqliteConfig = {
    client: ImmediateSqliteClient,
    // knex would load the package itself and say that sqlite3 must be installed.
    driver: loadDriver(client),
    access: { waitMs: busyTimeoutMs, isClosing: false, isRefused: false },
    connection: { filename: file },
    useNullAsDefault: true,
    // An error says which query failed, never with which values: they are hashes, secrets and messages.
    compileSqlOnError: false,
    log: SILENT,
    pool: {
      min: 1,
      max: 1,
      afterCreate: (connection: RawConnection, done: (error: Error | null) => void) =>
        connection.exec(settings, done),
    },
  };
  return knex(config);
}

/**
 * Checks that the file is sound and ours, and turns WAL on.
 * @throws StartError `database-corrupt`, `database-foreign`; SQLite's own error for the rest
 */
export async function prepareSqlite(db: Knex, file: string): Promise<void> {
  await verifySqlite(db, file, CHECKED_UP_TO_BYTES);
  await db.raw('pragma journal_mode = wal');
  if ((await pragma(db, 'application_id')) !== APPLICATION_ID) await writeMark(db);
}

/** Marks the file as ours. Writes to the disk also when the mark exists, which the check of the storage uses. */
export async function writeMark(db: Knex): Promise<void> {
  await db.raw(`pragma application_id = ${APPLICATION_ID}`);
}

/**
 * @param checkedUpToBytes larger files are only opened and their schema read
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
