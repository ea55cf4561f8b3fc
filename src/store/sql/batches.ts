// Makes batches of traffic and heartbeat entries idempotent: a daemon writes a batch again when the answer to its COMMIT was lost, and
// this module detects that the batch is already written.
import type { Knex } from 'knex';

/**
 * Records a batch of this process as written. Call it first in the transaction that writes the batch.
 * @param number of the batch, which increases for each kind
 * @returns false when the batch is already written
 */
export type IsNewBatch = (trx: Knex, kind: 'heartbeats' | 'traffic', number: number) => Promise<boolean>;

/** For databases in this process, whose answers cannot get lost. */
export const isAlwaysNew: IsNewBatch = async () => true;
