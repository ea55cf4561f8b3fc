// The list of changes on PostgreSQL. Transactions commit in another order than they took their numbers, so that "a number greater
// than the last one read" would pass over those that commit late. Every row has its transaction's id (migration 0010), and a read
// returns the rows that its snapshot sees and the snapshot of the read before it did not:
// https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
import type { Knex } from 'knex';
import type { Change, ChangeFeed } from '../core/changes.js';
import { type Clock, MINUTE_MS } from '../core/clock.js';
import { CHANGES_AT_ONCE, CHANGES_KEPT_MS, type ChangeRow, oneAtATime, toChange } from './changes.js';

/** How often old changes are forgotten, in ms. */
const TRIM_EVERY_MS = MINUTE_MS;

/** One row at least: the snapshot of this statement, with each change that the one of the statement before it did not see. */
const UNSEEN_CHANGES = `
  select pg_current_snapshot()::text as snapshot, unseen.topic, unseen.key
  from (select 1) as once left join lateral (
    select seq, topic, key from changes
    where xact >= pg_snapshot_xmin(?::pg_snapshot) and not pg_visible_in_snapshot(xact, ?::pg_snapshot) and origin <> ?
  ) as unseen on true
  order by unseen.seq`;

type UnseenRow = { snapshot: string } & ({ topic: null; key: null } | Pick<ChangeRow, 'topic' | 'key'>);

/** The changes of others from now on. Cheap enough to be asked several times a second. */
export async function createPgChangeFeed(db: Knex, origin: string, now: Clock): Promise<ChangeFeed> {
  let snapshot = await currentSnapshot(db);
  let waiting: Change[] = [];
  let trimmedAt = now();

  async function read(): Promise<Change[]> {
    if (waiting.length === 0) waiting = await readUnseen();
    const next = waiting.slice(0, CHANGES_AT_ONCE);
    waiting = waiting.slice(next.length);
    return next;
  }

  async function readUnseen(): Promise<Change[]> {
    const { rows }: { rows: UnseenRow[] } = await db.raw(UNSEEN_CHANGES, [snapshot, snapshot, origin]);
    snapshot = rows[0]?.snapshot ?? snapshot;
    if (now() - trimmedAt >= TRIM_EVERY_MS) {
      trimmedAt = now();
      await db('changes')
        .where('at', '<', now() - CHANGES_KEPT_MS)
        .delete();
    }
    return rows.flatMap((row) => (row.topic === null ? [] : toChange(row)));
  }

  return { next: oneAtATime(read) };
}

async function currentSnapshot(db: Knex): Promise<string> {
  const { rows }: { rows: { snapshot: string }[] } = await db.raw(
    'select pg_current_snapshot()::text as snapshot',
  );
  return rows[0]?.snapshot ?? '';
}
