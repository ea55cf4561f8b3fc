// The heartbeat tables. A batch is sent as one JSON value, and a few statements process it, regardless of its size.
import type { Knex } from 'knex';
import type { Heartbeat, HeartbeatStore, HeartbeatTotals } from '../../core/heartbeats/heartbeat.js';
import { countEach } from '../../core/maps.js';
import type { StoreContext } from '../database.js';
import {
  find,
  fromRow,
  having,
  IDS_PER_STATEMENT,
  inTimeRange,
  inTransaction,
  ofOwner,
  runJson,
  slices,
} from '../sql.js';

/** The columns that an entry sets beside the account, in the order of `rowOf`. */
const WRITTEN = [
  'at',
  'session_id',
  'client',
  'destination',
  'protocol',
  'bytes_up',
  'bytes_down',
  'kind',
  'game_id',
] as const;

/** The value of a column in a bound entry, which begins with the account. */
function writtenValue(column: (typeof WRITTEN)[number], i: number): string {
  const value = `entry.value ->> ${i + 1}`;
  return NUMBERS.has(column) ? `cast(${value} as bigint)` : value;
}

const NUMBERS: ReadonlySet<string> = new Set(['at', 'bytes_up', 'bytes_down']);

function rowOf(entry: Heartbeat, place: number): (string | number | null)[] {
  const { accountId, at, sessionId, client, destination, protocol, bytesUp, bytesDown, kind, gameId } = entry;
  return [accountId, at, sessionId, client, destination, protocol, bytesUp, bytesDown, kind, gameId, place];
}

interface TotalsRow {
  account_id: string;
  count: number;
  latest_game_id: string | null;
}

export function createHeartbeatStore(
  context: Pick<StoreContext, 'db' | 'reads' | 'isShared' | 'recordActivity' | 'isNewBatch'>,
): HeartbeatStore {
  const { db, reads, isShared, recordActivity, isNewBatch } = context;
  /** The elements of one bound JSON array, as `value`. */
  const each = isShared ? 'jsonb_array_elements(?::jsonb)' : 'json_each(?)';
  const run = <Row>(trx: Knex, sql: string, values: readonly unknown[]): Promise<Row[]> =>
    runJson(trx, isShared, sql, values);

  const ofAccounts = (query: Knex.QueryBuilder, column: string, accountIds: readonly string[]) =>
    query.whereRaw(`${column} in (select value ${isShared ? "#>> '{}'" : ''} from ${each})`, [
      JSON.stringify(accountIds),
    ]);

  const announce = (trx: Knex, accountIds: readonly string[]): Promise<void> =>
    recordActivity(
      trx,
      accountIds.map((account_id) => ({ account_id, kind: 'heartbeats' })),
    );

  // Locks last until the transaction ends, in the order of ids, so that transactions do not deadlock. SQLite has only one writing
  // transaction at a time.

  /** Those of the accounts that exist, locked against removal. */
  async function existing(trx: Knex, accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = ofAccounts(trx('accounts'), 'id', accountIds).orderBy('id');
    const ids: string[] = await (isShared ? rows.forKeyShare() : rows).pluck('id');
    return new Set(ids);
  }

  async function readTotals(trx: Knex, accountIds: readonly string[]): Promise<HeartbeatTotals[]> {
    return totalsInOrder(accountIds, await ofAccounts(trx('heartbeat_totals'), 'account_id', accountIds));
  }

  /**
   * Inserts entries of existing accounts in their order, and adds them to the totals of their accounts, which it returns. The statement
   * returns nothing: making an object of each row would cost more than inserting it.
   */
  async function insertAndCount(trx: Knex, entries: readonly Heartbeat[]): Promise<TotalsRow[]> {
    await run(
      trx,
      // Materialized: SQLite would write each entry as text again for each of its columns.
      `with entry as materialized (select value from ${each})
       insert into heartbeats (account_id, username, ${WRITTEN.join(', ')})
       select accounts.id, accounts.username, ${WRITTEN.map(writtenValue).join(', ')}
       from entry join accounts on accounts.id = entry.value ->> 0
       order by cast(entry.value ->> ${WRITTEN.length + 1} as bigint)`,
      entries.map(rowOf),
    );
    const games = new Map<string, string>();
    for (const { accountId, gameId } of entries) if (gameId !== null) games.set(accountId, gameId);
    const counts = [...countEach(entries.map(({ accountId }) => accountId))].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    return run(
      trx,
      `insert into heartbeat_totals (account_id, count, latest_game_id)
       select value ->> 0, cast(value ->> 1 as bigint), value ->> 2 from ${each} as grown where true
       on conflict (account_id) do update set count = heartbeat_totals.count + excluded.count,
         latest_game_id = coalesce(excluded.latest_game_id, heartbeat_totals.latest_game_id)
       returning account_id, count, latest_game_id`,
      counts.map(([id, count]) => [id, count, games.get(id) ?? null]),
    );
  }

  /**
   * Deletes the oldest entries of accounts with more than `maxPerAccount`. Reads the index of each account from its oldest entry, and
   * stops after the surplus: the cost depends on the number of deleted rows, not of kept ones.
   */
  async function cap(trx: Knex, over: readonly TotalsRow[], maxPerAccount: number): Promise<void> {
    const deleted = await run<{ account_id: string }>(
      trx,
      `with recursive oldest(account_id, id, remaining) as (
         select over.value ->> 0, (select min(id) from heartbeats where account_id = over.value ->> 0),
             cast(over.value ->> 1 as bigint) from ${each} as over
         union all
         select account_id, (select min(next.id) from heartbeats as next
             where next.account_id = oldest.account_id and next.id > oldest.id), remaining - 1
           from oldest where remaining > 1)
       delete from heartbeats where id in (select id from oldest) returning account_id`,
      over.map(({ account_id, count }) => [account_id, Number(count) - maxPerAccount]),
    );
    await subtract(trx, countEach(deleted.map(({ account_id }) => account_id)));
  }

  /** Subtracts removed entries from the totals of their accounts, and reads the newest GameID again: its entry may be removed. */
  async function subtract(trx: Knex, removed: ReadonlyMap<string, number>): Promise<void> {
    const accountIds = [...removed.keys()];
    const totals = ofAccounts(trx('heartbeat_totals'), 'account_id', accountIds).orderBy('account_id');
    if (isShared) await totals.select(trx.raw('1')).forUpdate();
    await run(
      trx,
      `update heartbeat_totals set count = heartbeat_totals.count - cast(removed.value ->> 1 as bigint),
         latest_game_id = (select game_id from heartbeats as game where game.account_id = heartbeat_totals.account_id
           and game.game_id is not null order by game.id desc limit 1)
       from ${each} as removed where heartbeat_totals.account_id = removed.value ->> 0`,
      [...removed],
    );
    await ofAccounts(trx('heartbeat_totals'), 'account_id', accountIds).where({ count: 0 }).delete();
  }

  return {
    append: async (batch, retention, number) => {
      if (batch.length === 0) return [];
      const accountIds = [...new Set(batch.map((entry) => entry.accountId))];
      return inTransaction(db, async (trx) => {
        if (number !== undefined && !(await isNewBatch(trx, 'heartbeats', number)))
          return readTotals(trx, accountIds);
        const known = await existing(trx, accountIds);
        const entries = batch.filter(({ accountId }) => known.has(accountId));
        const grown = await insertAndCount(trx, entries);
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
        const old = trx('heartbeats')
          .where('at', '<', before)
          .orderBy(['at', 'id'])
          .limit(limit + 1);
        const ids: number[] = await old.pluck('id');
        const taken = ids.slice(0, limit);
        if (taken.length === 0) return { changed: [], more: ids.length > 0 };
        // Another daemon may delete the same rows: subtract only those that this statement deletes.
        const deleted = await run<{ account_id: string }>(
          trx,
          `delete from heartbeats where id in (select cast(value ->> 0 as bigint) from ${each}) returning account_id`,
          taken.map((id) => [id]),
        );
        const removed = countEach(deleted.map(({ account_id }) => account_id));
        await subtract(trx, removed);
        await announce(trx, [...removed.keys()]);
        return { changed: await readTotals(trx, [...removed.keys()]), more: ids.length > limit };
      }),

    totals: () => find<HeartbeatTotals>(db('heartbeat_totals')),

    async totalsOf(accountIds) {
      const rows: TotalsRow[] = [];
      for (const ids of slices(accountIds, IDS_PER_STATEMENT))
        rows.push(...(await db('heartbeat_totals').whereIn('account_id', ids)));
      return totalsInOrder(accountIds, rows);
    },

    async list({ accountId, owner, gameId, from, to }, before, limit) {
      const query = reads('heartbeats')
        .select('id', 'account_id', ...WRITTEN)
        // Not the column `username`, which has the name at the time of the entry.
        .select({
          username: reads('accounts').select('username').whereRaw('accounts.id = heartbeats.account_id'),
        })
        .orderBy('id', 'desc')
        .limit(limit);
      having(query, { account_id: accountId, game_id: gameId });
      ofOwner(reads, query, 'account_id', owner);
      inTimeRange(query, 'at', { from, to });
      if (before !== null) query.where('id', '<', before);
      const found = await find<Heartbeat & { readonly id: number }>(query);
      return found.map(({ id: place, ...entry }) => ({ ...entry, place }));
    },
  };
}

/** The totals of each account, from their rows; an account without a row has no entries. */
function totalsInOrder(accountIds: readonly string[], rows: readonly TotalsRow[]): HeartbeatTotals[] {
  const found = new Map(rows.map((row) => [row.account_id, fromRow<HeartbeatTotals>(row)]));
  return accountIds.map((accountId) => found.get(accountId) ?? { accountId, count: 0, latestGameId: null });
}
