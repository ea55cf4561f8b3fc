// The heartbeat tables on PostgreSQL: a batch is sent as one array per column, and the statement that inserts it also counts it, so
// that several daemons can write at the same time. sqlite/heartbeats.ts is the counterpart; `heartbeats.ts` is shared.
import type { Knex } from 'knex';
import type { Heartbeat, HeartbeatStore, HeartbeatTotals } from '../../core/heartbeats/heartbeat.js';
import type { IsNewBatch, RecordActivity } from '../database.js';
import { inTransaction } from '../sql.js';
import {
  countByAccount,
  createHeartbeatReader,
  type TotalsRow,
  totalsInOrder,
} from '../tables/heartbeats.js';

/** An array as one bound value. The types of knex allow only arrays of texts. */
const array = (values: readonly unknown[]): Knex.Value => values as unknown as Knex.Value;

export function createPgHeartbeatStore(
  { db, reads }: { readonly db: Knex; readonly reads: Knex },
  recordActivity: RecordActivity,
  isNewBatch: IsNewBatch,
): HeartbeatStore {
  const announce = (trx: Knex, accountIds: Iterable<string>): Promise<void> =>
    recordActivity(
      trx,
      Array.from(accountIds, (account_id) => ({ account_id, kind: 'heartbeats' })),
    );

  return {
    ...createHeartbeatReader(db, reads),

    append: async (batch, retention, number) => {
      if (batch.length === 0) return [];
      const accountIds = [...new Set(batch.map((entry) => entry.accountId))];
      return inTransaction(db, async (trx) => {
        if (number !== undefined && !(await isNewBatch(trx, 'heartbeats', number)))
          return readTotals(trx, accountIds);
        await lockAccounts(trx, accountIds);
        const grown = await insertAndCount(trx, batch);
        await announce(trx, accountIds);
        const over = grown.filter(({ count }) => Number(count) > retention.maxPerAccount);
        if (over.length === 0) return totalsInOrder(accountIds, grown);
        await cap(trx, over, retention.maxPerAccount);
        return readTotals(trx, accountIds);
      });
    },

    trim: (before, limit) =>
      inTransaction(db, async (trx) => {
        // One more row than `limit` shows whether any are left.
        const rows: { id: number }[] = await trx('heartbeats')
          .where('at', '<', before)
          .orderBy(['at', 'id'])
          .limit(limit + 1)
          .select('id');
        const taken = rows.slice(0, limit).map(({ id }) => id);
        if (taken.length === 0) return { changed: [], more: rows.length > 0 };
        // Another daemon may delete the same rows: subtract only those that this statement deletes.
        const { rows: deleted }: { rows: { account_id: string }[] } = await trx.raw(
          'delete from heartbeats where id = any(?) returning account_id',
          [taken],
        );
        const removed = countByAccount(deleted);
        await subtract(trx, removed);
        await announce(trx, removed.keys());
        return { changed: await readTotals(trx, [...removed.keys()]), more: rows.length > limit };
      }),
  };
}

/** Locks the accounts against removal until the transaction ends. Locks in the order of ids, so that transactions do not deadlock. */
async function lockAccounts(trx: Knex, accountIds: readonly string[]): Promise<void> {
  await trx.raw('select 1 from accounts where id = any(?) order by id for key share', [array(accountIds)]);
}

/**
 * Inserts entries and adds them to the totals of their accounts. The join drops entries of accounts that no longer exist.
 * Returns the totals of the changed accounts.
 */
async function insertAndCount(trx: Knex, batch: readonly Heartbeat[]): Promise<TotalsRow[]> {
  const column = (name: keyof Heartbeat) => array(batch.map((entry) => entry[name]));
  const { rows }: { rows: TotalsRow[] } = await trx.raw(
    `with added as (
       insert into heartbeats (account_id, username, at, session_id, client, destination, protocol, bytes_up, bytes_down, kind, game_id)
       select accounts.id, accounts.username, entry.at, entry.session_id, entry.client, entry.destination, entry.protocol,
         entry.bytes_up, entry.bytes_down, entry.kind, entry.game_id
       from unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::text[])
         with ordinality as entry(account_id, at, session_id, client, destination, protocol, bytes_up, bytes_down, kind, game_id, place)
         join accounts on accounts.id = entry.account_id
       order by entry.place
       returning id, account_id, game_id)
     insert into heartbeat_totals as total (account_id, count, latest_game_id)
     select account_id, count(*), (array_agg(game_id order by id desc) filter (where game_id is not null))[1]
       from added group by account_id order by account_id
     on conflict (account_id) do update set count = total.count + excluded.count,
       latest_game_id = coalesce(excluded.latest_game_id, total.latest_game_id)
     returning account_id, count, latest_game_id`,
    [
      column('accountId'),
      column('at'),
      column('sessionId'),
      column('client'),
      column('destination'),
      column('protocol'),
      column('bytesUp'),
      column('bytesDown'),
      column('kind'),
      column('gameId'),
    ],
  );
  return rows;
}

/** Deletes the oldest entries of accounts with more than `maxPerAccount`. The cost depends only on the number of deleted rows. */
async function cap(trx: Knex, over: readonly TotalsRow[], maxPerAccount: number): Promise<void> {
  const { rows }: { rows: { account_id: string }[] } = await trx.raw(
    `delete from heartbeats where id in (
       select oldest.id from unnest(?::text[], ?::bigint[]) as over(account_id, surplus)
         cross join lateral (select id from heartbeats where heartbeats.account_id = over.account_id
           order by id limit over.surplus) as oldest)
     returning account_id`,
    [over.map(({ account_id }) => account_id), over.map(({ count }) => Number(count) - maxPerAccount)],
  );
  await subtract(trx, countByAccount(rows));
}

/** Subtracts removed entries from the totals of their accounts, and reads the newest GameID again: its entry may be removed. */
async function subtract(trx: Knex, removed: ReadonlyMap<string, number>): Promise<void> {
  const accountIds = [...removed.keys()];
  await trx.raw('select 1 from heartbeat_totals where account_id = any(?) order by account_id for update', [
    accountIds,
  ]);
  await trx.raw(
    `update heartbeat_totals as total set count = total.count - removed.count,
       latest_game_id = (select game_id from heartbeats as game where game.account_id = total.account_id
         and game.game_id is not null order by game.id desc limit 1)
     from unnest(?::text[], ?::bigint[]) as removed(account_id, count) where total.account_id = removed.account_id`,
    [accountIds, [...removed.values()]],
  );
  await trx.raw('delete from heartbeat_totals where account_id = any(?) and count = 0', [accountIds]);
}

async function readTotals(trx: Knex, accountIds: readonly string[]): Promise<HeartbeatTotals[]> {
  const rows: TotalsRow[] = await trx('heartbeat_totals').whereRaw('account_id = any(?)', [
    array(accountIds),
  ]);
  return totalsInOrder(accountIds, rows);
}
