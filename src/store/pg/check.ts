// Checks that the PostgreSQL server responds and accepts writes.
import type { Knex } from 'knex';
import { type StorageFault, storageProblemOf } from '../../core/storage.js';
import { within } from '../../core/timers.js';

const NOT_ANSWERED: StorageFault = { problem: 'database-away', error: undefined };

/**
 * Returns a function that checks the server and returns its problem; null: none. Call it one at a time. It never rejects.
 * @param answerMs a server that has not answered after this time counts as unavailable; the query continues
 */
export function createPgCheck(db: Knex, answerMs = 5_000): () => Promise<StorageFault | null> {
  /** The first fault of any query since the last check, which the check itself may not encounter. */
  let queryFault: StorageFault | null = null;
  db.on('query-error', (error: unknown) => {
    const problem = storageProblemOf(error);
    if (problem && problem !== 'database-away') queryFault ??= { problem, error };
  });

  async function query(): Promise<StorageFault | null> {
    try {
      const { rows }: { rows: { is_standby: boolean }[] } = await db.raw(
        'select pg_is_in_recovery() as is_standby',
      );
      return rows[0]?.is_standby ? { problem: 'database-read-only', error: undefined } : null;
    } catch (error) {
      return { problem: storageProblemOf(error) ?? 'database-failing', error };
    }
  }

  /** A query that a frozen server has not answered yet. Only one at a time occupies a connection. */
  let pending: Promise<StorageFault | null> | null = null;

  return async () => {
    pending ??= query().finally(() => {
      pending = null;
    });
    const answer = await within(answerMs, pending, NOT_ANSWERED);
    const fault = answer ?? queryFault;
    queryFault = null;
    return fault;
  };
}
