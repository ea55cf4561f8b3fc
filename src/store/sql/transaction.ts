// Transactions, repeated when the database aborts one because of a deadlock.
import type { Knex } from 'knex';
import { codeOf } from '../../core/errors.js';

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

const PG_UNIQUE_VIOLATION = '23505';

/** Whether a statement failed because another row has a value that must be unique. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_CONSTRAINT' || code === PG_UNIQUE_VIOLATION;
}
