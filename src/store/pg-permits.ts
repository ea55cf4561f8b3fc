// The session_permits table, and the function that decides on permits (migration 0018).
import type { Knex } from 'knex';
import type { LimitRefusal } from '../core/accounts/limits.js';
import type { HeldPermit, PermitStore } from '../core/accounts/permit-store.js';

/** Deletes permits of processes that are gone. A frozen process keeps its permits: they count again when it continues. */
const TRIM = `delete from session_permits where process not in (select process from nodes where lease_until is not null)`;

/** @param process GUID of this process, as in the nodes table */
export function createPgPermitStore(db: Knex, process: string): PermitStore {
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

    async trim() {
      await db.raw(TRIM);
    },
  };
}

function toRow({ id, accountId, client }: HeldPermit) {
  return { id, account_id: accountId, client };
}
