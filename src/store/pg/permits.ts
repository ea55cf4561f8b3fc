// The session_permits table, and the functions that decide on permits (migrations 0018 and 0026).
import type { Knex } from 'knex';
import type { HeldPermit, PermitStore } from '../../core/accounts/access/permit-store.js';
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { RecordChange } from '../changes.js';
import { inTransaction } from '../sql/transaction.js';

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
      if (elsewhere.length > 0) {
        const changes = elsewhere.map((id) => ({ topic: 'revoke-permit' as const, id }));
        await inTransaction(db, (trx) => recordChange(trx, ...changes));
      }
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
