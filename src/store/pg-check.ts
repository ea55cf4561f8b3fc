// Checks that the PostgreSQL server responds and accepts writes.
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { StorageFault } from '../core/storage.js';
import { problemOf } from './pg-errors.js';

const SILENT: StorageFault = { problem: 'database-away', error: undefined };

/**
 * Returns the check: null when nothing is wrong. One at a time. Never rejects.
 * @param answerMs a server that has not answered by then counts as away; the check goes on
 */
export function createPgCheck(db: Knex, answerMs = 5_000): () => Promise<StorageFault | null> {
  /** The first fault of a query since the last check; the check itself may not meet it. */
  let queryFault: StorageFault | null = null;
  db.on('query-error', (error: unknown) => {
    const problem = problemOf(error);
    if (problem && problem !== 'database-away') queryFault ??= { problem, error };
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

  /** The check that a frozen server has not answered yet. Only one at a time occupies a connection. */
  let pending: Promise<StorageFault | null> | null = null;

  return async () => {
    pending ??= ask().finally(() => {
      pending = null;
    });
    const silence = new AbortController();
    const silent = pause(answerMs, SILENT, { signal: silence.signal }).catch(() => SILENT);
    const answer = await Promise.race([pending, silent]);
    silence.abort();
    const fault = answer ?? queryFault;
    queryFault = null;
    return fault;
  };
}
