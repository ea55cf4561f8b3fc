// The traffic of accounts per day.
import type { Knex } from 'knex';
import type { TrafficOfDay, TrafficSums } from '../../core/accounts/usage/limits.js';
import type { TrafficStore } from '../../core/accounts/usage/traffic-store.js';
import type { ActivityRow, Database, StoreContext } from '../database.js';
import { find, fromRow, inTransaction, slices } from '../sql.js';

export function createTrafficStore(context: StoreContext): TrafficStore {
  const { db, recordActivity, isNewBatch, snapshot } = context;
  return {
    add: (rows, batch) =>
      inTransaction(db, async (trx) => {
        if (!(await isNewBatch(trx, 'traffic', batch))) return;
        await addTraffic(trx, rows);
        await recordActivity(trx, rows.filter(hasBytes).map(toActivity));
      }),

    async days(accountId, fromDay) {
      const days = db('traffic_days').where({ account_id: accountId }).where('day', '>=', fromDay);
      return find<TrafficOfDay>(days.orderBy('day'));
    },

    sums: (fromDay, accountIds) => trafficSums(db, fromDay, accountIds, snapshot),
  };
}

/** Reads the sums of all or the given accounts, with one statement. */
export async function trafficSums(
  db: Knex,
  fromDay: number | null,
  accountIds?: readonly string[],
  snapshot: Database['snapshot'] = null,
): Promise<TrafficSums[]> {
  const query = db('traffic_days')
    .groupBy('account_id')
    .select(
      'account_id',
      db.raw('sum(bytes_up) as bytes_up'),
      db.raw('sum(bytes_down) as bytes_down'),
      // -1 is before every day, so that all traffic counts.
      db.raw('sum(case when day >= ? then bytes_up + bytes_down else 0 end) as bytes_since', [fromDay ?? -1]),
      db.raw(`${snapshot?.sql ?? 'null'} as snapshot`),
    );
  const rows: { snapshot: string | null }[] =
    accountIds === undefined ? await query : await query.whereIn('account_id', accountIds);
  // One statement has one snapshot.
  const text = rows[0]?.snapshot ?? null;
  const read = text !== null && snapshot ? { snapshot: snapshot.parse(text) } : {};
  return rows.map(({ snapshot: _, ...row }) => ({ ...fromRow<TrafficSums>(row), ...read }));
}

const hasBytes = ({ bytesUp, bytesDown }: TrafficOfDay): boolean => bytesUp + bytesDown > 0;

const toActivity = ({ accountId, day, bytesUp, bytesDown }: TrafficOfDay): ActivityRow => ({
  account_id: accountId,
  kind: 'traffic',
  day,
  bytes_up: bytesUp,
  bytes_down: bytesDown,
});

/** Adds traffic per day. Drops rows of accounts that no longer exist. */
export async function addTraffic(trx: Knex, rows: readonly TrafficOfDay[]): Promise<void> {
  for (const slice of slices(rows)) await addSlice(trx, slice);
}

async function addSlice(trx: Knex, rows: readonly TrafficOfDay[]): Promise<void> {
  const values = rows
    .map(() => '(?, cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as bigint))')
    .join(', ');
  await trx.raw(
    `with moved(account_id, day, bytes_up, bytes_down, sessions) as (values ${values})
     insert into traffic_days (account_id, day, bytes_up, bytes_down, sessions)
     select moved.account_id, moved.day, moved.bytes_up, moved.bytes_down, moved.sessions
     from moved join accounts on accounts.id = moved.account_id where true
     on conflict (account_id, day) do update set bytes_up = traffic_days.bytes_up + excluded.bytes_up,
       bytes_down = traffic_days.bytes_down + excluded.bytes_down, sessions = traffic_days.sessions + excluded.sessions`,
    rows.flatMap((row) => [row.accountId, row.day, row.bytesUp, row.bytesDown, row.sessions]),
  );
}
