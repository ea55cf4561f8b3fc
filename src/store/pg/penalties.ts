// The penalties table: sources that nodes refuse because of failed attempts. Each node reads a row once, by its key, when the change
// log names it. The table is bounded, because attackers choose the sources.
import type { PenaltyStore } from '../../core/auth/penalties.js';
import type { RecordChange } from '../changes.js';
import type { Database } from '../database.js';
import { inTransaction } from '../sql/transaction.js';
import { PG_NOW_MS } from './changes.js';

/** Most rows in the table. */
const MAX_PENALTIES = 20_000;
/** Advisory lock, the same in every version of Pulsegate: nodes write penalties one after another. */
const PENALTIES_LOCK = 7_305_808_872;

export function createPgPenaltyStore(
  { db, following }: Pick<Database, 'db' | 'following'>,
  recordChange: RecordChange,
  maxPenalties = MAX_PENALTIES,
): PenaltyStore {
  return {
    add: (penalties) =>
      inTransaction(db, async (trx) => {
        await trx.raw('select pg_advisory_xact_lock(?)', [PENALTIES_LOCK]);
        await trx.raw(`delete from penalties where ends_at <= ${PG_NOW_MS}`);
        await trx.raw(
          `insert into penalties (key, ends_at)
           select key, ${PG_NOW_MS} + left_ms from jsonb_to_recordset(?::jsonb) as row (key text, left_ms bigint)
           on conflict (key) do update set ends_at = greatest(penalties.ends_at, excluded.ends_at)`,
          [JSON.stringify(penalties.map(({ key, leftMs }) => ({ key, left_ms: leftMs })))],
        );
        await trx.raw(
          'delete from penalties where key in (select key from penalties order by ends_at desc offset ?)',
          [maxPenalties],
        );
        await recordChange(trx, ...penalties.map(({ key }) => ({ topic: 'penalty' as const, id: key })));
      }),

    async live(keys) {
      const query = following('penalties')
        .whereRaw(`ends_at > ${PG_NOW_MS}`)
        .select('key', db.raw(`ends_at - ${PG_NOW_MS} as left_ms`));
      if (keys) query.whereIn('key', [...keys]);
      const rows: { key: string; left_ms: number }[] = await query;
      return rows.map(({ key, left_ms }) => ({ key, leftMs: left_ms }));
    },
  };
}
