// The change log on SQLite, which has one writer at a time, so that `seq` increases in the order of commits.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.js';
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
} from '../changes.js';

/** Also deletes old changes whenever it records new ones. */
export function createSqliteChangeRecorder(origin: string, now: Clock): RecordChange {
  const record = createChangeRecorder(origin, now);
  return async (trx, ...changes) => {
    await trx('changes')
      .where('at', '<', now() - CHANGES_KEPT_MS)
      .delete();
    await record(trx, ...changes);
  };
}

/** Creates a feed of the changes of other processes from now on. Reading it several times a second is cheap. */
export async function createSqliteChangeFeed(db: Knex, origin: string): Promise<ChangeFeed> {
  const newest = await db('changes').max({ seq: 'seq' }).first();
  let seen = Number(newest?.seq ?? 0);

  /** Skips this process's own changes. An empty result means that there are no more. */
  async function read(): Promise<Change[]> {
    for (;;) {
      const rows: ChangeRow[] = await db('changes')
        .where('seq', '>', seen)
        .orderBy('seq')
        .limit(MAX_CHANGES_PER_READ);
      seen = Number(rows.at(-1)?.seq ?? seen);
      const changes = rows.filter((row) => row.origin !== origin).flatMap(toChange);
      if (changes.length > 0 || rows.length < MAX_CHANGES_PER_READ) return changes;
    }
  }

  return { next: oneAtATime(read), listen: () => ({ stop: async () => undefined }) };
}
