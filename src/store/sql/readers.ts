// Shared by the read-only connections of both engines.
import knex from 'knex';
import { QueryTooSlowError } from '../../core/errors.js';

/** Acquires a connection of the pool. Rejects with QueryTooSlowError when none becomes free in time. */
export async function acquireReader(acquire: () => Promise<unknown>): Promise<unknown> {
  try {
    return await acquire();
  } catch (error) {
    if (!(error instanceof knex.KnexTimeoutError)) throw error;
    throw new QueryTooSlowError('busy', 'all read-only connections are busy', { cause: error });
  }
}
