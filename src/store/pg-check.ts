// Whether the PostgreSQL server can still be relied on: it answers, and takes writes.
import type { Knex } from 'knex';
import type { StorageFault } from '../core/storage.js';
import { problemOf } from './pg-errors.js';

/** Returns the check: null when nothing is wrong. One at a time. Never rejects. */
export function createPgCheck(db: Knex): () => Promise<StorageFault | null> {
  /** What queries failed with since the last check, which a query that reads may not find. */
  let noted: StorageFault | null = null;
  db.on('query-error', (error: unknown) => {
    const problem = problemOf(error);
    if (problem && problem !== 'database-away') noted ??= { problem, error };
  });

  async function ask(): Promise<StorageFault | null> {
    try {
      const { rows }: { rows: { is_standby: boolean }[] } = await db.raw(
        'select pg_is_in_recovery() as is_standby',
      );
      return rows[0]?.is_standby ? { problem: 'database-read-only', error: undefined } : null;
    } catch (error) {
      return { problem: problemOf(error) ?? 'database-failing', error };
    }
  }

  return async () => {
    const fault = (await ask()) ?? noted;
    noted = null;
    return fault;
  };
}
