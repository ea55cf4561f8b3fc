// The heartbeat tables on SQLite: a batch is sent as one JSON value, and a few statements process it, regardless of its size.
// pg/heartbeats.ts is the counterpart; `heartbeats.ts` is shared.
import type { Knex } from 'knex';
import type { HeartbeatStore, HeartbeatTotals } from '../../core/heartbeats/heartbeat.js';
import {
  countByAccount,
  createHeartbeatReader,
  type TotalsRow,
  totalsInOrder,
} from '../tables/heartbeats.js';

export function createSqliteHeartbeatStore(db: Knex, reads: Knex): HeartbeatStore {
  return {
    ...createHeartbeatReader(db, reads),

    async append(batch, retention) {
      if (batch.length === 0) return [];
      const rows = batch.map((entry) => [
        entry.accountId,
        entry.at,
        entry.sessionId,
        entry.client,
        entry.destination,
        entry.protocol,
        entry.bytesUp,
        entry.bytesDown,
        entry.kind,
        entry.gameId,
      ]);
      const accountIds = [...new Set(batch.map((entry) => entry.accountId))];
      return db.transaction(async (trx) => {
        const newest = await trx('heartbeats').max({ id: 'id' }).first();
        await insert(trx, rows);
        const grown = await countSince(trx, Number(newest?.id ?? 0));
        await cap(trx, grown, retention.maxPerAccount);
        return readTotals(trx, accountIds);
      });
    },

    trim: (before, limit) =>
      db.transaction(async (trx) => {
        // One more row than `limit` shows whether any are left.
        const rows: { id: number; account_id: string }[] = await trx('heartbeats')
          .where('at', '<', before)
          .orderBy(['at', 'id'])
          .limit(limit + 1)
          .select('id', 'account_id');
        const taken = rows.slice(0, limit);
        if (taken.length === 0) return { changed: [], more: rows.length > 0 };
        const ids = JSON.stringify(taken.map((row) => row.id));
        await trx.raw('delete from heartbeats where id in (select value from json_each(?))', [ids]);
        const removed = countByAccount(taken);
        await subtract(trx, removed);
        return { changed: await readTotals(trx, [...removed.keys()]), more: rows.length > limit };
      }),
  };
}

/** The join drops entries of accounts that no longer exist. */
async function insert(trx: Knex, rows: readonly unknown[][]): Promise<void> {
  await trx.raw(
    `insert into heartbeats (account_id, username, at, session_id, client, destination, protocol, bytes_up, bytes_down, kind, game_id)
     select accounts.id, accounts.username, entry.value ->> 1, entry.value ->> 2, entry.value ->> 3, entry.value ->> 4,
       entry.value ->> 5, entry.value ->> 6, entry.value ->> 7, entry.value ->> 8, entry.value ->> 9
     from json_each(?) as entry join accounts on accounts.id = entry.value ->> 0
     order by entry.key`,
    [JSON.stringify(rows)],
  );
}

/** Adds the entries after `lastId` to the totals of their accounts. Returns the new totals. */
async function countSince(trx: Knex, lastId: number): Promise<TotalsRow[]> {
  return trx.raw(
    `insert into heartbeat_totals (account_id, count, latest_game_id)
     select account_id, count(*), ${latestGameOf('added.account_id')} from heartbeats as added where id > ? group by account_id
     on conflict (account_id) do update set count = heartbeat_totals.count + excluded.count, latest_game_id = excluded.latest_game_id
     returning account_id, count, latest_game_id`,
    [lastId],
  );
}

/** Deletes the oldest entries of accounts with more than `maxPerAccount`. */
async function cap(trx: Knex, grown: readonly TotalsRow[], maxPerAccount: number): Promise<void> {
  const over = new Map<string, number>();
  for (const { account_id, count } of grown) {
    if (Number(count) > maxPerAccount) over.set(account_id, Number(count) - maxPerAccount);
  }
  if (over.size === 0) return;
  // Reads the index of each account from its oldest entry, and stops after the surplus: the cost depends on the number of deleted
  // rows, not of kept ones.
  await trx.raw(
    `with recursive oldest(account_id, id, remaining) as (
       select over.value ->> 0, (select min(id) from heartbeats where account_id = over.value ->> 0), over.value ->> 1
         from json_each(?) as over
       union all
       select account_id, (select min(next.id) from heartbeats as next
           where next.account_id = oldest.account_id and next.id > oldest.id), remaining - 1
         from oldest where remaining > 1)
     delete from heartbeats where id in (select id from oldest)`,
    [JSON.stringify([...over])],
  );
  await subtract(trx, over);
}

/** Subtracts removed entries from the totals of their accounts, and reads the newest GameID again: its entry may be removed. */
async function subtract(trx: Knex, removed: ReadonlyMap<string, number>): Promise<void> {
  await trx.raw(
    `update heartbeat_totals set count = count - (removed.value ->> 1), latest_game_id = ${latestGameOf('heartbeat_totals.account_id')}
     from json_each(?) as removed where account_id = removed.value ->> 0`,
    [JSON.stringify([...removed])],
  );
  await trx('heartbeat_totals').where({ count: 0 }).delete();
}

async function readTotals(trx: Knex, accountIds: readonly string[]): Promise<HeartbeatTotals[]> {
  const rows: TotalsRow[] = await trx('heartbeat_totals').whereRaw(
    'account_id in (select value from json_each(?))',
    [JSON.stringify(accountIds)],
  );
  return totalsInOrder(accountIds, rows);
}

/** SQL expression: the GameID of the account's newest entry that has one, by the partial index. */
function latestGameOf(accountId: string): string {
  return `(select game_id from heartbeats as game where game.account_id = ${accountId} and game.game_id is not null
    order by game.id desc limit 1)`;
}
