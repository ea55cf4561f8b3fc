// What nodes tell each other about players: permits of sessions, penalties of sources.
import type { Knex } from 'knex';
import type { HeldPermit, PermitStore } from '../../core/accounts/access/held-permits.js';
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { PenaltyStore } from '../../core/auth/penalties.js';
import type { Database } from '../database.js';
import type { RecordChange } from '../follow-changes.js';
import { inTransaction } from '../sql.js';
import { PG_NOW_MS } from './changes.js';

/** Deletes permits of processes that no longer run. A frozen process keeps its permits: they count again when it continues. */
const TRIM = `delete from session_permits where process not in (select process from nodes where lease_until is not null)`;

/** @param process GUID of this process, as in the nodes table */
export function createPgPermitStore(db: Knex, process: string, recordChange: RecordChange): PermitStore {
  return {
    async exchange({ endedIds, held, wanted, leaseMs }) {
      const { rows }: { rows: { refused_id: string; refusal: LimitRefusal }[] } = await db.raw(
        'select * from exchange_session_permits(?, ?, ?::jsonb, ?::jsonb, ?::jsonb)',
        [
          process,
          leaseMs,
          JSON.stringify(endedIds),
          JSON.stringify(held.map(toRow)),
          JSON.stringify(
            wanted.map(({ maxSessions, maxClientAddresses, ...permit }, n) => ({
              ...toRow(permit),
              n,
              max_sessions: maxSessions,
              max_clients: maxClientAddresses,
            })),
          ),
        ],
      );
      return new Map(rows.map(({ refused_id, refusal }) => [refused_id, refusal]));
    },

    async findSurplus(accountId, { maxSessions, maxClientAddresses }) {
      const { rows }: { rows: { surplus_id: string; surplus_process: string }[] } = await db.raw(
        'select * from surplus_session_permits(?, ?, ?)',
        [accountId, maxSessions, maxClientAddresses] as Knex.RawBinding[],
      );
      const [here, elsewhere] = [true, false].map((isHere) =>
        rows.filter((row) => (row.surplus_process === process) === isHere).map((row) => row.surplus_id),
      ) as [string[], string[]];
      if (elsewhere.length > 0)
        await inTransaction(db, (trx) => recordChange(trx, 'revoke-permit', ...elsewhere));
      return here;
    },

    async trim() {
      await db.raw(TRIM);
    },
  };
}

function toRow({ id, accountId, client }: HeldPermit) {
  return { id, account_id: accountId, client };
}

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
        await recordChange(trx, 'penalty', ...penalties.map(({ key }) => key));
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
