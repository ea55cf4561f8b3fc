// The written_batches table: the number of the last batch of each kind that each daemon has written. If the COMMIT of a batch is still
// in progress on the server, the statement waits for its end.
import type { IsNewBatch } from '../sql/batches.js';
import { PG_NOW_MS } from './changes.js';

/** @param process GUID of this process */
export function createPgBatches(process: string): IsNewBatch {
  return async (trx, kind, number) => {
    const { rows }: { rows: unknown[] } = await trx.raw(
      `insert into written_batches (process, kind, number, written_at) values (?, ?, ?, ${PG_NOW_MS})
       on conflict (process, kind) do update set number = excluded.number, written_at = excluded.written_at
         where written_batches.number < excluded.number
       returning 1`,
      [process, kind, number],
    );
    return rows.length > 0;
  };
}
