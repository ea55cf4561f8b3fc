// What the connections that only read have in common, whatever the engine.
import knex from 'knex';
import { QueryTooSlowError } from '../core/errors.js';

/** The connection that `acquire` waits for. Rejects with QueryTooSlowError when none becomes free in time. */
export async function acquireReader(acquire: () => Promise<unknown>): Promise<unknown> {
  try {
    return await acquire();
  } catch (error) {
    if (!(error instanceof knex.KnexTimeoutError)) throw error;
    throw new QueryTooSlowError('busy', 'all connections that read are busy', { cause: error });
  }
}
