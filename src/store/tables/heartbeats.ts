// Reads the heartbeat tables, in the same way on every database.
import type { Knex } from 'knex';
import type { Heartbeat, HeartbeatStore, HeartbeatTotals } from '../../core/heartbeats/heartbeat.js';
import { find, fromRow, having, inTimeRange, ofOwner, slices } from '../sql.js';

/** The columns of an entry. The column `username` is not among them: it has the name at the time of the entry, not the current one. */
const COLUMNS = [
  'id',
  'at',
  'account_id',
  'session_id',
  'client',
  'destination',
  'protocol',
  'bytes_up',
  'bytes_down',
  'kind',
  'game_id',
];

/** Well below the limit of bound values of every database. */
const IDS_PER_STATEMENT = 500;

export interface TotalsRow {
  account_id: string;
  count: number;
  latest_game_id: string | null;
}

export function createHeartbeatReader(
  db: Knex,
  reads: Knex,
): Pick<HeartbeatStore, 'totals' | 'totalsOf' | 'list'> {
  const entries = (): Knex.QueryBuilder =>
    reads('heartbeats')
      .select(COLUMNS)
      .select({
        username: reads('accounts').select('username').whereRaw('accounts.id = heartbeats.account_id'),
      })
      .orderBy('id', 'desc');

  return {
    totals: () => find<HeartbeatTotals>(db('heartbeat_totals')),

    async totalsOf(accountIds) {
      const rows: TotalsRow[] = [];
      for (const ids of slices(accountIds, IDS_PER_STATEMENT))
        rows.push(...(await db('heartbeat_totals').whereIn('account_id', ids)));
      return totalsInOrder(accountIds, rows);
    },

    async list({ accountId, owner, gameId, from, to }, before, limit) {
      const query = entries().limit(limit);
      having(query, { account_id: accountId, game_id: gameId });
      ofOwner(reads, query, 'account_id', owner);
      inTimeRange(query, 'at', { from, to });
      if (before !== null) query.where('id', '<', before);
      const rows: { id: number }[] = await query;
      return rows.map((row) => ({ ...toHeartbeat(row), place: row.id }));
    },
  };
}

/** The totals of each account, from their rows; an account without a row has no entries. */
export function totalsInOrder(accountIds: readonly string[], rows: readonly TotalsRow[]): HeartbeatTotals[] {
  const found = new Map(rows.map((row) => [row.account_id, fromRow<HeartbeatTotals>(row)]));
  return accountIds.map((accountId) => found.get(accountId) ?? { accountId, count: 0, latestGameId: null });
}

export function countByAccount(rows: readonly { readonly account_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { account_id } of rows) counts.set(account_id, (counts.get(account_id) ?? 0) + 1);
  return counts;
}

function toHeartbeat(row: object): Heartbeat {
  const { id: _, ...entry } = fromRow<Heartbeat & { readonly id: number }>(row);
  return entry;
}
