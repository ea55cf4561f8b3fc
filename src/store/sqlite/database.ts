// SQLite: the default, with one file in the data folder and one daemon.
import { statSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import type { Clock } from '../../core/time/clock.js';
import { everyStep } from '../../core/time/turns.js';
import type { DaemonLock } from '../daemon-lock.js';
import { giveToFolderOwner, prepareFolder } from '../data-folder.js';
import type { Database, LoginSearch, Opener, OpenOptions } from '../database.js';
import { DEFAULT_READING } from '../database.js';
import {
  CHANGES_KEPT_MS,
  type Change,
  type ChangeFeed,
  type ChangeRow,
  createChangeRecorder,
  MAX_CHANGES_PER_READ,
  oneAtATime,
  type RecordChange,
  toChange,
} from '../follow-changes.js';
import { migrateOnOpen } from '../migrate.js';
import { createSqliteCheck } from './check.js';
import { connectReaders, connectSqlite, prepareSqlite } from './connect.js';
import { toStartError } from './errors.js';
import { backupSqlite, lockSqlite, prepareFile, requireFile, sqliteFile, syncToDisk } from './files.js';
import {
  forgetOpenFile,
  identityOf,
  recordLog,
  refuseForeignLog,
  setForeignLogAside,
} from './foreign-log.js';
import { accessOf } from './knex-client.js';
import type { SqlitePackageChoice } from './package.js';

export interface SqliteOptions extends OpenOptions {
  readonly client: SqlitePackageChoice;
  /** How long a write waits for the lock of another process, in ms. */
  readonly busyTimeoutMs: number;
  /** False: nobody waits for the current work any more, so it does not wait for a lock either. Default: true. */
  readonly hasCaller?: () => boolean;
}

/** Opens the file. A daemon also locks it until `close`. @throws StartError as `openStore` and `openDaemonStore` */
export async function openSqlite(options: SqliteOptions, opener: Opener): Promise<Database> {
  const file = sqliteFile(options.dataDir);
  let lock: DaemonLock | null = null;
  try {
    if (opener.is === 'daemon') {
      await prepareFolder(options.dataDir);
      lock = await lockSqlite(file, options.client);
    }
    return await open(options, file, opener, lock);
  } catch (error) {
    await lock?.release();
    throw toStartError(error, file);
  }
}

async function open(
  options: SqliteOptions,
  file: string,
  opener: Opener,
  lock: DaemonLock | null,
): Promise<Database> {
  // First, because no file must be created when the database package cannot be loaded. This does not open the file yet.
  const db = connectSqlite(options.client, file, options.busyTimeoutMs, options.hasCaller);
  const reading = options.reading ?? DEFAULT_READING;
  const reads = connectReaders(options.client, file, reading);
  const scans = connectReaders(options.client, file, { ...reading, readers: 1 });
  try {
    if (options.mayCreate ?? true) await prepareFolder(options.dataDir);
    else await requireFile(file);
    if (opener.is === 'command') await refuseForeignLog(file);
    else await setLogAside(file, opener);
    await prepareFile(file);
    await prepareSqlite(db, file);
    if (opener.is === 'daemon') await recordLog(db, file);
    const opened = await identityOf(file);
    for (const connections of [db, reads, scans]) accessOf(connections).opened = opened;
    const copy = `${file}.before-migration`;
    await migrateOnOpen({ db, kind: 'sqlite3', where: file }, opener, {
      file: copy,
      write: () => replaceCopy(db, copy),
    });
    const check = opener.is === 'daemon' ? await createSqliteCheck({ db, reads }, file, accessOf(db)) : null;
    return {
      db,
      reads,
      scans,
      following: db,
      nowMs: NOW_MS,
      isShared: false,
      snapshot: null,
      // SQLite has only one writing transaction at a time.
      lock: async () => {},
      loginSearch: sqliteLoginSearch,
      ofProcess: async (process, now) => ({
        recordChange: createSqliteChangeRecorder(process, now),
        changes: await createSqliteChangeFeed(db, process, watchWrites(file)),
        // The answers of a database in this process cannot get lost.
        isNewBatch: async () => true,
        recordActivity: async () => {},
        activity: null,
        liveSessions: null,
        permits: null,
        penalties: null,
      }),
      watchWrites: () => watchWrites(file),
      size: () => sizeOf(file),
      backup: (target) => backupSqlite(db, target),
      check: async () => (check ? check.run() : null),
      close: () =>
        everyStep(
          () => closeAll(db, reads, scans),
          async () => check?.close(),
          async () => forgetOpenFile(file),
          async () => lock?.release(),
        ),
    };
  } catch (error) {
    await closeAll(db, reads, scans);
    forgetOpenFile(file);
    throw error;
  }
}

const NOW_MS = "cast((julianday('now') - 2440587.5) * 86400000 as integer)";

async function setLogAside(file: string, { onLogSetAside }: Opener & { is: 'daemon' }): Promise<void> {
  const aside = await setForeignLogAside(file);
  if (aside) onLogSetAside?.(aside);
}

const closeAll = (db: Knex, ...readers: readonly Knex[]): Promise<void> =>
  everyStep(...readers.map((each) => () => each.destroy()), () => db.destroy());

async function sizeOf(file: string): Promise<number | null> {
  const [files, log] = await Promise.all([file, `${file}-wal`].map((name) => stat(name).catch(() => null)));
  return files ? files.size + (log?.size ?? 0) : null;
}

/** Also deletes old changes whenever it records new ones. */
function createSqliteChangeRecorder(origin: string, now: Clock): RecordChange {
  const record = createChangeRecorder(origin, false, now);
  return async (trx, topic, ...keys) => {
    await trx('changes')
      .where('at', '<', now() - CHANGES_KEPT_MS)
      .delete();
    await record(trx, topic, ...keys);
  };
}

/**
 * Creates a feed of the changes of other processes from now on. Reading it several times a second is cheap.
 * @param wasWritten see Database.watchWrites
 */
async function createSqliteChangeFeed(
  db: Knex,
  origin: string,
  wasWritten: () => boolean,
): Promise<ChangeFeed> {
  const newest = await db('changes').max({ seq: 'seq' }).first();
  let seen = Number(newest?.seq ?? 0);
  let isMore = true;

  /** Skips this process's own changes. An empty result means that there are no more. */
  async function read(): Promise<Change[]> {
    if (!wasWritten() && !isMore) return [];
    for (;;) {
      isMore = true;
      const rows: ChangeRow[] = await db('changes')
        .where('seq', '>', seen)
        .orderBy('seq')
        .limit(MAX_CHANGES_PER_READ);
      seen = Number(rows.at(-1)?.seq ?? seen);
      const changes = rows.filter((row) => row.origin !== origin).flatMap(toChange);
      isMore = rows.length > 0;
      if (changes.length > 0 || rows.length < MAX_CHANGES_PER_READ) return changes;
    }
  }

  return { next: oneAtATime(read), listen: () => ({ stop: async () => undefined }) };
}

/** The index contains trigrams. A search for a shorter text reads every row. */
const MIN_CHARACTERS = 3;

export const sqliteLoginSearch: LoginSearch = {
  covers: (text) => [...text].length >= MIN_CHARACTERS && !text.includes('\0'),
  // A string of FTS5's query language, in which only quotes are special: they are doubled.
  rows: (db, text) => db('logins_text').whereRaw('logins_text match ?', [`"${text.replaceAll('"', '""')}"`]),
  id: 'logins_text.rowid',
};

/** Replaces the previous copy in one step. */
async function replaceCopy(db: Knex, copyFile: string): Promise<void> {
  const unfinished = `${copyFile}.part`;
  await rm(unfinished, { force: true });
  await backupSqlite(db, unfinished);
  await giveToFolderOwner(unfinished);
  await rename(unfinished, copyFile);
  await syncToDisk(dirname(copyFile));
}

/** Two writes within this time may leave the same time at the log: file systems count time in steps. */
const STEP_MS = 100;
/** Without a sign of a write, one is assumed after this time: some rows become due by time alone. */
const ASSUMED_AFTER_MS = 10_000;

/** Returns a check for one caller: whether the file may have been written to since its last call. True at first, and in doubt. */
export function watchWrites(file: string, now: Clock = Date.now): () => boolean {
  const log = `${file}-wal`;
  let seen = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  return () => {
    const found = statSync(log, { bigint: true, throwIfNoEntry: false });
    const state = found ? `${found.ino} ${found.size} ${found.mtimeNs}` : '';
    const at = now();
    const isQuiet = state !== '' && state === seen && at >= writtenAt && at - writtenAt < ASSUMED_AFTER_MS;
    if (isQuiet) return false;
    writtenAt = at;
    // What is written next may not show when the last write is so recent: the next call is in doubt.
    seen = found && Math.abs(at - Number(found.mtimeMs)) > STEP_MS ? state : '';
    return true;
  };
}
