// PostgreSQL: for several daemons, or a database on another machine.
import type { Knex } from 'knex';
import { faultOf, StartError, type StorageFault, storageProblemOf } from '../../core/errors.js';
import { within } from '../../core/time/timers.js';
import { everyStep, joined } from '../../core/time/turns.js';
import { lockForDaemon } from '../daemon-lock.js';
import { prepareFolder } from '../data-folder.js';
import type { Database, IsNewBatch, Opener, OpenOptions } from '../database.js';
import { DEFAULT_READING } from '../database.js';
import { isNew, migrateOnOpen, missingMigrations, type Target } from '../migrate.js';
import { toStartError as toFolderError } from '../sqlite/errors.js';
import { sqliteFile } from '../sqlite/files.js';
import { createPgActivityFeed, createPgActivityRecorder, parseSnapshot } from './activity.js';
import { createLostCommits, createPgChangeFeed, createPgChangeRecorder, PG_NOW_MS } from './changes.js';
import { connectPg, connectPgMigrator, connectPgReaders, preparePg } from './connect.js';
import { explainPgError, nameOf, requireReadable } from './errors.js';
import { createPgLiveSessionStore, createPgPenaltyStore, createPgPermitStore } from './live-sessions.js';

export interface PgOptions extends OpenOptions {
  readonly client: 'pg';
  /** `postgres://user:password@host:5432/name`; contains a password. */
  readonly connection: string;
  /** Most connections, not counting the read-only ones. */
  readonly poolSize: number;
  /** A server that has not answered for this time counts as unavailable, in ms. */
  readonly answerMs?: number;
}

/**
 * Opens the database. A daemon also locks its data folder until `close`.
 * @throws StartError `database-connection`, `database-unreachable`, `database-login-refused`, `database-unknown`, `database-tls`,
 *   `database-privileges`, `database-too-old`, `database-encoding`, `database-read-only`, `database-foreign`, `database-full`,
 *   `database-newer`, `database-older`, `database-missing`, `disk-full`, `database-unusable`; a daemon `data-dir-unusable`,
 *   `daemon-running`
 */
export async function openPg(options: PgOptions, opener: Opener): Promise<Database> {
  const { connection, dataDir } = options;
  requireReadable(connection);
  const lock = opener.is === 'daemon' ? await lockFolder(dataDir) : null;
  try {
    await prepare(options, opener);
    return open(options, async () => lock?.release());
  } catch (error) {
    await lock?.release();
    throw explainPgError(error, connection);
  }
}

async function lockFolder(dataDir: string) {
  try {
    await prepareFolder(dataDir);
    return await lockForDaemon(dataDir, `The data folder ${dataDir}`);
  } catch (error) {
    throw toFolderError(error, sqliteFile(dataDir));
  }
}

function open(options: PgOptions, release: () => Promise<void>): Database {
  const { connection, poolSize, reading, answerMs } = options;
  const lost = createLostCommits();
  const db = connectPg(connection, poolSize, { answerMs, onLostCommit: lost.record });
  const reads = connectPgReaders(connection, reading ?? DEFAULT_READING, { answerMs });
  const scans = connectPgReaders(connection, { ...(reading ?? DEFAULT_READING), readers: 1 }, { answerMs });
  const following = connectPg(connection, 1, { answerMs });
  return {
    db,
    reads,
    scans,
    following,
    nowMs: PG_NOW_MS,
    isShared: true,
    snapshot: { sql: 'pg_current_snapshot()::text', parse: parseSnapshot },
    lock: (trx, what) => trx.raw('select pg_advisory_xact_lock(?)', [LOCKS[what]]),
    loginSearch: null,
    watchWrites: () => () => true,
    async ofProcess(process, now) {
      const recordChange = createPgChangeRecorder(db, process);
      return {
        recordChange,
        changes: await createPgChangeFeed({ db, following }, { connection, origin: process, now, lost }),
        recordActivity: createPgActivityRecorder(process),
        activity: await createPgActivityFeed(db, process),
        isNewBatch: createPgBatches(process),
        liveSessions: createPgLiveSessionStore({ db, reads }, process, recordChange),
        permits: createPgPermitStore(db, process, recordChange),
        penalties: createPgPenaltyStore({ db, following }, recordChange),
      };
    },
    size: () => sizeOf(db),
    async backup() {
      throw new StartError(
        'database-pg',
        `The database is ${nameOf(connection)}. Back it up with PostgreSQL's own program: pg_dump -Fc -f FILE, with the user, host and name above.`,
      );
    },
    check: createPgCheck(db, answerMs),
    close: () =>
      everyStep(
        () => reads.destroy(),
        () => scans.destroy(),
        () => following.destroy(),
        () => db.destroy(),
        release,
      ),
  };
}

/** Keys of advisory locks: arbitrary numbers, the same in every version of Pulsegate. */
const MIGRATION_LOCK = 7_305_808_869;
const LOCKS = { runs: 7_305_808_870, addresses: 7_305_808_871, tokens: 7_305_808_873 } as const;

async function prepare({ connection, mayCreate = true }: PgOptions, opener: Opener): Promise<void> {
  const db = connectPgMigrator(connection);
  const where = nameOf(connection);
  const lock = (trx: Knex) => trx.raw('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
  const target: Target = { db, kind: 'pg', where, lock };
  try {
    await preparePg(db, where);
    if (!mayCreate) await requireTables(target);
    // No copy: the migrations are one transaction, and the operator makes backups of the server.
    await migrateOnOpen(target, opener, null);
  } finally {
    await db.destroy();
  }
}

async function requireTables(target: Target): Promise<void> {
  if (!isNew(await missingMigrations(target))) return;
  throw new StartError(
    'database-missing',
    `The database ${target.where} has no tables of Pulsegate yet. Start the daemon with it first, or name the right configuration with --config FILE.`,
  );
}

async function sizeOf(db: Knex): Promise<number | null> {
  const { rows }: { rows: { bytes: number }[] } = await db.raw(
    'select pg_database_size(current_database()) as bytes',
  );
  return rows[0]?.bytes ?? null;
}

/** @param process GUID of this process */
function createPgBatches(process: string): IsNewBatch {
  return async (trx, kind, number) => {
    const { rows }: { rows: unknown[] } = await trx.raw(
      `insert into written_batches (process, kind, number, written_at) values (?, ?, ?, ${PG_NOW_MS})
       on conflict (process, kind) do update set number = excluded.number, written_at = excluded.written_at
         where written_batches.number < excluded.number
       returning 1`,
      [process, kind, number],
    );
    return rows.length > 0;
  };
}

const NOT_ANSWERED: StorageFault = { problem: 'database-away', error: undefined };

/**
 * Returns a function that checks the server and returns its problem; null: none. Call it one at a time. It never rejects.
 * @param answerMs a server that has not answered after this time counts as unavailable; the query continues
 */
function createPgCheck(db: Knex, answerMs = 5_000): () => Promise<StorageFault | null> {
  /** The first fault of any query since the last check, which the check itself may not encounter. */
  let queryFault: StorageFault | null = null;
  db.on('query-error', (error: unknown) => {
    const problem = storageProblemOf(error);
    if (problem && problem !== 'database-away') queryFault ??= { problem, error };
  });

  /** A frozen server may not answer. Only one query at a time occupies a connection. */
  const query = joined(async (): Promise<StorageFault | null> => {
    try {
      const { rows }: { rows: { is_standby: boolean }[] } = await db.raw(
        'select pg_is_in_recovery() as is_standby',
      );
      return rows[0]?.is_standby ? { problem: 'database-read-only', error: undefined } : null;
    } catch (error) {
      return faultOf(error);
    }
  });

  return async () => {
    const answer = await within(answerMs, query(), NOT_ANSWERED);
    const fault = answer ?? queryFault;
    queryFault = null;
    return fault;
  };
}
