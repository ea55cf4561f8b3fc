// The change log on PostgreSQL. Transactions may commit in another order than that of their sequence numbers, so reading "numbers
// greater than the last one" would miss those that commit late. Every row has the id of its transaction (migration 0010), and a read
// returns the rows that are visible in its snapshot and were not visible in the snapshot of the previous read:
// https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
// Notifications (LISTEN, over a separate connection) only wake readers sooner. They do not affect what is read.
import type { Knex } from 'knex';
import pg from 'pg';
import { type Clock, MINUTE_MS } from '../../core/time/clock.js';
import type { Database } from '../database.js';
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
import { withLibpqModes } from './errors.js';

/** How often old changes are deleted, in ms. */
const TRIM_EVERY_MS = MINUTE_MS;
/** A reader that paused for this part of the retention may have missed changes, which get their time before their transaction ends. */
const SAFE_PART = 5 / 6;

/** The notification channel of all daemons of a database. Each transaction that records a change notifies it. */
const CHANNEL = 'pulsegate_changes';

/** SQL expression: ms since the epoch by the clock of the database. Not `now()`, which is the start of the transaction. */
export const PG_NOW_MS = 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)';

/**
 * SQL expression: identifies the database and the start of its server. The value changes when a restored copy or a standby replaces
 * the database, and when the server restarts, because unlogged tables are empty after a crash.
 */
const PG_IDENTITY = `(select system_identifier from pg_control_system()) || '/' ||
  (select timeline_id from pg_control_checkpoint()) || '/' ||
  (select oid from pg_database where datname = current_database()) || '/' || pg_postmaster_start_time()`;

/** The position of a reader. */
interface Position {
  readonly snapshot: string;
  /** By the clock of the database. */
  readonly at: number;
  readonly identity: string;
}

const POSITION = `pg_current_snapshot()::text as snapshot, ${PG_NOW_MS} as at, ${PG_IDENTITY} as identity`;

/**
 * Returns a function that reads the rows of a table from now on, each once, in any order of commits.
 * @param safeMs a reader that paused for longer may have missed rows
 */
export async function createUnseenReader<Row extends { readonly seq: unknown }>(
  db: Knex,
  { table, columns, safeMs }: { readonly table: string; readonly columns: string; readonly safeMs: number },
) {
  const first: { rows: Position[] } = await db.raw(`select ${POSITION}`);
  let position = first.rows[0] ?? { snapshot: '', at: 0, identity: '' };
  // At least one row, with the snapshot of this statement; one for each row that was not visible in the previous snapshot.
  const unseen = `select ${POSITION}, unseen.* from (select 1) as once left join lateral (
    select seq, ${columns} from ${table}
    where xact >= pg_snapshot_xmin(?::pg_snapshot) and not pg_visible_in_snapshot(xact, ?::pg_snapshot) and origin <> ?
  ) as unseen on true
  order by unseen.seq`;

  /** @param origin GUID of the process whose rows are not read */
  return async (origin: string) => {
    const before = position;
    const { rows }: { rows: (Position & Row)[] } = await db.raw(unseen, [
      before.snapshot,
      before.snapshot,
      origin,
    ]);
    position = rows[0] ?? position;
    const { snapshot, at, identity } = position;
    const hasMissed = identity !== before.identity || at - before.at > safeMs;
    return { rows: rows.filter(({ seq }) => seq !== null), snapshot, hasMissed };
  };
}

/** Own changes are also read for this time after the answer to a COMMIT was lost, in ms: the server may still execute it. */
const READ_BACK_MS = MINUTE_MS;

type LostCommits = ReturnType<typeof createLostCommits>;

/** COMMITs whose answer was lost. Whether their changes are in the database, or will be, is unknown. */
export function createLostCommits() {
  let lostAt = Number.NEGATIVE_INFINITY;
  let isNew = false;
  return {
    record(): void {
      lostAt = performance.now();
      isNew = true;
    },
    /** Whether any were recorded since the last call. */
    take(): boolean {
      const hadNew = isNew;
      isNew = false;
      return hadNew;
    },
    /** Whether any were recorded in the last minute. */
    hasRecent: (): boolean => performance.now() - lostAt < READ_BACK_MS,
  };
}

export function createPgChangeRecorder(db: Knex, origin: string): RecordChange {
  const record = createChangeRecorder(origin, true, () => db.raw(PG_NOW_MS));
  return async (trx, topic, ...keys) => {
    if (keys.length === 0) return;
    await record(trx, topic, ...keys);
    await trx.raw('select pg_notify(?, ?)', [CHANNEL, '']);
  };
}

/** Creates a feed of the changes of other processes from now on. Reading it several times a second is cheap. */
export async function createPgChangeFeed(
  { db, following }: Pick<Database, 'db' | 'following'>,
  options: {
    readonly connection: string;
    /** GUID of this process's store: its own changes are not read back. */
    readonly origin: string;
    readonly now: Clock;
    readonly lost?: LostCommits;
    /** How long changes are kept. */
    readonly keptMs?: number;
  },
): Promise<ChangeFeed> {
  const { connection, origin, now, lost = createLostCommits(), keptMs = CHANGES_KEPT_MS } = options;
  const readRows = await createUnseenReader<ChangeRow>(following, {
    table: 'changes',
    columns: 'topic, key',
    safeMs: SAFE_PART * keptMs,
  });
  let waiting: Change[] = [];
  let trimmedAt = now();

  async function read(): Promise<Change[]> {
    if (waiting.length === 0) waiting = await readUnseen();
    const next = waiting.slice(0, MAX_CHANGES_PER_READ);
    waiting = waiting.slice(next.length);
    return next;
  }

  async function readUnseen(): Promise<Change[]> {
    const { rows, hasMissed } = await readRows(lost.hasRecent() ? '' : origin);
    const isLost = lost.take();
    // Not awaited. After a failure the next trim deletes more, and the next read reports the problem.
    void trim().catch(() => undefined);
    return hasMissed || isLost ? [{ topic: 'everything' }] : rows.flatMap(toChange);
  }

  async function trim(): Promise<void> {
    if (now() - trimmedAt < TRIM_EVERY_MS) return;
    trimmedAt = now();
    await db('changes')
      .where('at', '<', db.raw(`${PG_NOW_MS} - ${keptMs}`))
      .delete();
  }

  return { next: oneAtATime(read), listen: (wake) => listen(connection, CHANNEL, wake) };
}

/** Delay before reconnecting, in ms. */
const RECONNECT_MS = 1_000;
const CONNECT_MS = 5_000;

/** @param wake called with each notification, and with each new connection, because earlier notifications are lost */
function listen(connection: string, channel: string, wake: () => void) {
  let isStopped = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;

  function connect(): void {
    const next = new pg.Client({
      connectionString: withLibpqModes(connection),
      application_name: 'pulsegate listen',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    client = next;
    let isLost = false;
    // Errors are not logged here: polling continues, and reports problems of the database.
    const reconnect = (): void => {
      if (isLost) return;
      isLost = true;
      next.end().catch(() => undefined);
      if (!isStopped) timer = setTimeout(connect, RECONNECT_MS).unref();
    };
    next.on('error', reconnect);
    next.on('end', reconnect);
    next.on('notification', wake);
    next
      .connect()
      .then(() => next.query(`listen ${channel}`))
      .then(wake)
      .catch(reconnect);
  }

  connect();
  return {
    /** Resolves when the connection is closed. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
