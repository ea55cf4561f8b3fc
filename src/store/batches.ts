// Batches that are written once: traffic and heartbeat entries, which a daemon writes again when it does not know whether they are
// written, because the answer to a COMMIT was lost.
import type { Knex } from 'knex';

/**
 * Records a batch of this process as written. Call it first in the transaction that writes the batch.
 * @param number of the batch, rising for each kind
 * @returns false: the batch is written already
 */
export type IsNewBatch = (trx: Knex, kind: 'heartbeats' | 'traffic', number: number) => Promise<boolean>;

/** Where no answer of the database is lost. */
export const isAlwaysNew: IsNewBatch = async () => true;
