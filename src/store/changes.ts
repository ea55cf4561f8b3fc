// The list of changes: how processes that share a database hear what the others wrote.
import type { Knex } from 'knex';
import type { Change, ChangeFeed } from '../core/changes.js';
import { type Clock, HOUR_MS } from '../core/clock.js';

/** Whoever has not asked for this long is gone. */
const KEPT_FOR_MS = HOUR_MS;
/** Rows in one statement: four bound values each. */
const ROWS_PER_STATEMENT = 200;
/** Changes told at once: what is done about them must not hold up logins. */
const TOLD_AT_ONCE = 500;

/** Notes changes; to be called with the transaction that makes them, so that both are seen together or not at all. */
export type RecordChange = (trx: Knex.Transaction, ...changes: readonly Change[]) => Promise<void>;

interface ChangeRow {
  seq: number | string;
  topic: string;
  key: string;
  origin: string;
}

/** @param origin GUID of this process's store: its own changes are not told back to it */
export function createChangeRecorder(origin: string, now: Clock): RecordChange {
  return async (trx, ...changes) => {
    const at = now();
    await trx('changes')
      .where('at', '<', at - KEPT_FOR_MS)
      .delete();
    const rows = changes.map((change) => {
      const key = change.topic === 'account' ? change.id : change.key;
      return { topic: change.topic, key, origin, at };
    });
    for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
      await trx('changes').insert(rows.slice(start, start + ROWS_PER_STATEMENT));
    }
  };
}

/**
 * The changes of others from now on. Cheap enough to be asked several times a second.
 * Relies on `seq` growing in the order of commits, which holds where there is one writer at a time, as in SQLite.
 */
export async function createChangeFeed(db: Knex, origin: string): Promise<ChangeFeed> {
  const newest = await db('changes').max({ seq: 'seq' }).first();
  let seen = Number(newest?.seq ?? 0);
  let previous: Promise<unknown> = Promise.resolve();

  /** Reads on over stretches of this process's own changes: an empty answer says that there are no more. */
  async function read(): Promise<Change[]> {
    for (;;) {
      const rows: ChangeRow[] = await db('changes')
        .where('seq', '>', seen)
        .orderBy('seq')
        .limit(TOLD_AT_ONCE);
      seen = Number(rows.at(-1)?.seq ?? seen);
      const changes = rows.filter((row) => row.origin !== origin).flatMap(toChange);
      if (changes.length > 0 || rows.length < TOLD_AT_ONCE) return changes;
    }
  }

  return {
    // One at a time: two calls side by side would both return the same changes.
    next: () => {
      const result = previous.then(read, read);
      previous = result;
      return result;
    },
  };
}

/** A topic that only a newer version knows is passed over. */
function toChange(row: ChangeRow): Change[] {
  if (row.topic === 'account') return [{ topic: 'account', id: row.key }];
  if (row.topic === 'setting') return [{ topic: 'setting', key: row.key }];
  return [];
}
