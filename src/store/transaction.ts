// Transactions, repeated when the engine aborts one because of a deadlock.
import type { Knex } from 'knex';
import { codeOf } from '../core/errors.js';

/** `serialization_failure` and `deadlock_detected` of PostgreSQL. SQLite has one writer at a time, so neither occurs. */
const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 10;

/** Runs `work` in one transaction. Calls it again after such a rollback, so `work` must have no effect outside the transaction. */
export async function inTransaction<T>(db: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (!RETRYABLE.has(codeOf(error) ?? '') || tries === MAX_TRIES) throw error;
    }
  }
}
