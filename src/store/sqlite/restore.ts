// Replaces the SQLite database with a backup, and keeps the previous database beside it.
import { randomUUID } from 'node:crypto';
import { link, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import { codeOf, StartError } from '../../core/errors.js';
import type { Clock } from '../../core/time/clock.js';
import { giveToFolderOwner, prepareFolder } from '../data-folder.js';
import { missingMigrations } from '../migrate.js';
import { countOf } from '../sql.js';
import { connectSqlite, verifySqlite } from './connect.js';
import { toStartError } from './errors.js';
import { backupSqlite, lockSqlite, sqliteFile, syncToDisk } from './files.js';
import { setForeignLogAside } from './foreign-log.js';
import type { SqlitePackageChoice } from './package.js';

/** The numbers of the parts that are restored only on request. Console sessions are never restored. */
export type RestoredContents = Awaited<ReturnType<typeof countRestored>>;

export interface Keep {
  readonly tokens: boolean;
  readonly runs: boolean;
}

/** How long to wait for other processes: long enough for a short command, in ms. */
const LOCK_WAIT_MS = 1000;

export interface RestoreOptions {
  readonly client: SqlitePackageChoice;
  readonly dataDir: string;
  /** A file written by `backup`, or any SQLite file of Pulsegate. It is not changed. */
  readonly from: string;
  readonly now: Clock;
  /** Called once. Returns which parts of the backup to keep. Default: neither tokens nor unfinished runs. */
  readonly keep?: (found: RestoredContents) => Promise<Keep>;
}

export interface Restored {
  /** The file with the replaced database; null when there was none. */
  readonly replaced: string | null;
  /** The log of an earlier file, which did not belong to the replaced one; null: none. */
  readonly setAside: string | null;
  /** The parts of the backup that are restored only on request. */
  readonly found: RestoredContents;
  /** The parts that were kept. */
  readonly kept: Keep;
}

const KEEP_NOTHING: Keep = { tokens: false, runs: false };

/**
 * Checks every page of `from`, then replaces the database by a copy of it atomically. The next start migrates an older backup.
 * Console sessions are not restored.
 * @throws StartError `backup-unusable`, `database-newer`, `daemon-running`, `database-in-use` (another program has it open), or
 *   as `openStore`
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  const { client: choice, dataDir, from, now, keep } = options;
  const file = sqliteFile(dataDir);
  const copy = `${file}.restore-${randomUUID()}`;
  try {
    await copyChecked(choice, from, copy);
    await giveToFolderOwner(copy);
    const { found, kept } = await dropFromCopy(choice, copy, now, keep ?? (async () => KEEP_NOTHING));
    const lock = await lockSqlite(file, choice);
    try {
      const setAside = await setForeignLogAside(file);
      const aside = `${file}.replaced-${new Date(now()).toISOString().replaceAll(':', '-')}`;
      return { replaced: await replace(choice, file, copy, aside), setAside, found, kept };
    } finally {
      await lock.release();
    }
  } catch (error) {
    throw toStartError(error, file);
  } finally {
    await rm(copy, { force: true });
  }
}

async function copyChecked(choice: SqlitePackageChoice, from: string, copy: string): Promise<void> {
  const unusable = (why: string, cause?: unknown) =>
    new StartError('backup-unusable', `The file ${from} cannot be restored: ${why}. Nothing was changed.`, {
      cause,
    });
  // SQLite would create a missing file as an empty database.
  const found = await stat(from).catch((error: unknown) => {
    throw unusable(`it cannot be read (${codeOf(error)})`, error);
  });
  if (!found.isFile()) throw unusable('it is not a file');
  const db = connectSqlite(choice, from, LOCK_WAIT_MS);
  try {
    if (!(await verifySqlite(db, from, Number.POSITIVE_INFINITY))) throw unusable('it is empty');
    await missingMigrations({ db, where: from });
    await prepareFolder(dirname(copy));
    await backupSqlite(db, copy);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'database-foreign') throw unusable('it is a database of another program', error);
    if (code === 'database-corrupt' || code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') {
      throw unusable('it is damaged or not a database', error);
    }
    throw error;
  } finally {
    await db.destroy();
  }
}

async function dropFromCopy(
  choice: SqlitePackageChoice,
  copy: string,
  now: Clock,
  keep: (found: RestoredContents) => Promise<Keep>,
) {
  const db = connectSqlite(choice, copy, LOCK_WAIT_MS);
  try {
    const found = await countRestored(db);
    const kept = await keep(found);
    await dropRestored(db, kept, now());
    return { found, kept };
  } finally {
    await db.destroy();
    await syncToDisk(copy);
  }
}

async function replace(
  choice: SqlitePackageChoice,
  file: string,
  copy: string,
  aside: string,
): Promise<string | null> {
  const exists = (await stat(file).catch(() => null)) !== null;
  const db = connectSqlite(choice, file, LOCK_WAIT_MS);
  try {
    if (exists) {
      await lockExclusively(db, file);
      // A hard link, not a move: a crash between the two steps must not leave the path without a file.
      await link(file, aside);
      // SQLite would replay a remaining log into the new file.
      for (const suffix of ['-wal', '-shm']) await moveIfExists(`${file}${suffix}`, `${aside}${suffix}`);
    }
    await rename(copy, file);
    await syncToDisk(dirname(file));
    return exists ? aside : null;
  } finally {
    await db.destroy();
  }
}

/**
 * Locks the file exclusively for this connection, and moves the write-ahead log into the file. Leaving WAL mode fails while any other
 * connection is open, even of an idle daemon.
 */
async function lockExclusively(db: Knex, file: string): Promise<void> {
  try {
    await db.raw('pragma journal_mode = delete');
    await db.raw('begin exclusive');
  } catch (error) {
    const code = codeOf(error);
    // No daemon can use a damaged file, so it can be replaced.
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') return;
    if (code !== 'SQLITE_BUSY') throw error;
    throw new StartError(
      'database-in-use',
      `The database ${file} is in use. Stop the programs that use it (fuser ${file} shows them), then restore again.`,
      { cause: error },
    );
  }
}

async function moveIfExists(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

const DROPPED_RUN = 'the database was restored from a backup';

/** Counts the parts in a backup, also of an older version. */
async function countRestored(db: Knex) {
  return {
    consoleSessions: await count(db, 'console_sessions'),
    tokens: await count(db, 'api_tokens'),
    /** Runs that are not finished, and replies that are not delivered. */
    runs: await count(db, 'runs', isOpen),
  };
}

/** Removes the parts that are not kept. @param db a copy of the backup, which no other process uses */
async function dropRestored(db: Knex, keep: Keep, now: number): Promise<void> {
  // Deleted values must not stay in free pages of the file.
  await db.raw('pragma secure_delete = on');
  await db.transaction(async (trx) => {
    if (await trx.schema.hasTable('console_sessions')) await trx('console_sessions').delete();
    if (!keep.tokens && (await trx.schema.hasTable('api_tokens'))) await trx('api_tokens').delete();
    if (await trx.schema.hasTable('runs')) await (keep.runs ? queueAgain(trx) : dropRuns(trx, now));
  });
}

/** Queues unfinished runs without a node, because their nodes were daemons at the time of the backup. */
async function queueAgain(trx: Knex): Promise<void> {
  await trx('runs').where({ status: 'running' }).whereNull('finished_at').update({ status: 'queued' });
  await trx('runs').whereNotNull('owner').update({ owner: null });
  await trx('runners').delete();
}

async function dropRuns(trx: Knex, now: number): Promise<void> {
  await queueAgain(trx);
  await trx('runs')
    .whereNull('finished_at')
    .update({ status: 'cancelled', finished_at: now, error: DROPPED_RUN });
  await trx('runs').whereNotNull('next_delivery_at').update({ delivery: 'none', next_delivery_at: null });
}

function isOpen(runs: Knex.QueryBuilder): void {
  runs.whereNull('finished_at').orWhereNotNull('next_delivery_at');
}

async function count(
  db: Knex,
  table: string,
  filter: (query: Knex.QueryBuilder) => void = () => {},
): Promise<number> {
  // A backup of an older version may not have the table.
  if (!(await db.schema.hasTable(table))) return 0;
  return countOf(db(table).where(filter));
}
