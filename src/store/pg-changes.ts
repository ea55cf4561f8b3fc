// The list of changes on PostgreSQL. Transactions commit in another order than they took their numbers, so that "a number greater
// than the last one read" would pass over those that commit late. Every row has its transaction's id (migration 0010), and a read
// returns the rows that its snapshot sees and the snapshot of the read before it did not:
// https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
// A notification only wakes readers sooner: what they read does not depend on it.
import type { Knex } from 'knex';
import type { Change, ChangeFeed } from '../core/changes.js';
import { type Clock, MINUTE_MS } from '../core/clock.js';
import {
  CHANGES_AT_ONCE,
  CHANGES_KEPT_MS,
  type ChangeRow,
  createChangeRecorder,
  oneAtATime,
  type RecordChange,
  toChange,
} from './changes.js';
import type { Engine } from './engine.js';
import { listen } from './pg-listen.js';

/** How often old changes are deleted, in ms. */
const TRIM_EVERY_MS = MINUTE_MS;
/** A change gets its time before its transaction ends: a reader that paused for this part of the time may have missed one. */
const SAFE_PART = 5 / 6;

/** All daemons of a database; sent with each transaction that changes something. */
const CHANNEL = 'pulsegate_changes';

/** Milliseconds since the epoch by the clock of the database. Not `now()`, which is when the transaction began. */
export const PG_NOW_MS = 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)';

/**
 * Which database this is, and since when it runs: another one after a restored copy or a standby has taken its place; after a crash
 * unlogged tables are empty.
 */
export const PG_IDENTITY = `(select system_identifier from pg_control_system()) || '/' ||
  (select timeline_id from pg_control_checkpoint()) || '/' ||
  (select oid from pg_database where datname = current_database()) || '/' || pg_postmaster_start_time()`;

/** One row at least: the snapshot of this statement, with each change that the one of the statement before it did not see. */
const UNSEEN_CHANGES = `
  select pg_current_snapshot()::text as snapshot, ${PG_NOW_MS} as at, ${PG_IDENTITY} as identity, unseen.topic, unseen.key
  from (select 1) as once left join lateral (
    select seq, topic, key from changes
    where xact >= pg_snapshot_xmin(?::pg_snapshot) and not pg_visible_in_snapshot(xact, ?::pg_snapshot) and origin <> ?
  ) as unseen on true
  order by unseen.seq`;

/** How far a reader has read. */
interface Position {
  readonly snapshot: string;
  /** By the clock of the database. */
  readonly at: number;
  readonly identity: string;
}

type UnseenRow = Position & ({ topic: null; key: null } | Pick<ChangeRow, 'topic' | 'key'>);

/** Own changes are read back for so long after the answer to a COMMIT was lost: the server may do it later, in ms. */
const READ_BACK_MS = MINUTE_MS;

/** Commits whose answer was lost: what they changed may or may not be, or come to be, in the database. */
export interface LostCommits {
  readonly note: () => void;
  /** Whether some were lost since the last call. */
  take(): boolean;
  /** Whether some were lost lately. */
  hasLately(): boolean;
}

export function createLostCommits(monotonicNow: () => number = () => performance.now()): LostCommits {
  let lostAt = Number.NEGATIVE_INFINITY;
  let isNew = false;
  return {
    note() {
      lostAt = monotonicNow();
      isNew = true;
    },
    take() {
      const was = isNew;
      isNew = false;
      return was;
    },
    hasLately: () => monotonicNow() - lostAt < READ_BACK_MS,
  };
}

export function createPgChangeRecorder(db: Knex, origin: string): RecordChange {
  const record = createChangeRecorder(origin, () => db.raw(PG_NOW_MS));
  return async (trx, ...changes) => {
    if (changes.length === 0) return;
    await record(trx, ...changes);
    await trx.raw('select pg_notify(?, ?)', [CHANNEL, '']);
  };
}

/** The changes of other processes from now on. Cheap enough to read several times a second. */
export async function createPgChangeFeed(
  { db, following }: Pick<Engine, 'db' | 'following'>,
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
  let position = await currentPosition(following);
  let waiting: Change[] = [];
  let trimmedAt = now();

  async function read(): Promise<Change[]> {
    if (waiting.length === 0) waiting = await readUnseen();
    const next = waiting.slice(0, CHANGES_AT_ONCE);
    waiting = waiting.slice(next.length);
    return next;
  }

  async function readUnseen(): Promise<Change[]> {
    const { snapshot, at, identity } = position;
    const passedOver = lost.hasLately() ? '' : origin;
    const { rows }: { rows: UnseenRow[] } = await following.raw(UNSEEN_CHANGES, [
      snapshot,
      snapshot,
      passedOver,
    ]);
    const [first] = rows;
    if (!first) return [];
    position = { snapshot: first.snapshot, at: first.at, identity: first.identity };
    const hasMissed =
      lost.take() ||
      identity !== position.identity ||
      isBefore(position.snapshot, snapshot) ||
      position.at - at > SAFE_PART * keptMs;
    // Who reads does not wait for it. When it fails, the next one deletes more; a database that is away is reported by the reads.
    void trim().catch(() => undefined);
    if (hasMissed) return [{ topic: 'everything' }];
    return rows.flatMap((row) => (row.topic === null ? [] : toChange(row)));
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

async function currentPosition(db: Knex): Promise<Position> {
  const { rows }: { rows: Position[] } = await db.raw(
    `select pg_current_snapshot()::text as snapshot, ${PG_NOW_MS} as at, ${PG_IDENTITY} as identity`,
  );
  return rows[0] ?? { snapshot: '', at: 0, identity: '' };
}

/** Whether a snapshot knows fewer transactions than an earlier one: the database was set back. */
function isBefore(snapshot: string, earlier: string): boolean {
  return xmaxOf(snapshot) < xmaxOf(earlier);
}

/** `xmin:xmax:running` */
const xmaxOf = (snapshot: string): bigint => BigInt(snapshot.split(':')[1] ?? '0');
