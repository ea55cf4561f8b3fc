// The tables heartbeat_sums and samples, and counts of other tables for the overview.
import type { Knex } from 'knex';
import { OTHER_GAMES } from '../../core/accounts/usage/usage.js';
import type { By, HeartbeatSumRow, HeartbeatSumStore, KeySum } from '../../core/heartbeats/heartbeat-sums.js';
import { sumUp } from '../../core/heartbeats/heartbeat-sums.js';
import { addToSet } from '../../core/maps.js';
import type { SampleStep, SampleStore, StoredSample } from '../../core/stats/history.js';
import type { StoreContext } from '../database.js';
import { added, find, IDS_PER_STATEMENT, inTransaction, ofOwner, slices, toRow } from '../sql.js';

const COLUMN: Readonly<Record<By, string>> = { game: 'game_id', account: 'account_id' };
/** The empty text stands for "no GameID", because nulls are never equal in a primary key. */
const toKey = (by: By, value: string): string | null => (by === 'game' && value === '' ? null : value);

export function createHeartbeatSumStore({ db, reads }: StoreContext): HeartbeatSumStore {
  const sumsOf = (owner: string | undefined): Knex.QueryBuilder =>
    ofOwner(reads, reads('heartbeat_sums'), 'account_id', owner);
  return {
    async add(steps, rows, maxGames) {
      const grown = added(db, 'heartbeat_sums', ['count', 'bytes_up', 'bytes_down']);
      await inTransaction(db, async (trx) => {
        for (const [stepSeconds, at] of steps) {
          const games = await gamesOf(
            trx('heartbeat_sums').where({ step_seconds: stepSeconds, at }),
            'game_id',
            rows,
          );
          const summed = sumUp(rows, maxGames, (accountId) => games.get(accountId) ?? NO_GAMES);
          const sums = Array.from(summed.all(), (row) =>
            toRow({ stepSeconds, at, ...row, gameId: row.gameId ?? '' }),
          );
          for (const slice of slices(sums)) {
            const insert = trx('heartbeat_sums').insert(slice);
            await insert.onConflict(['step_seconds', 'at', 'account_id', 'game_id']).merge(grown);
          }
        }
      });
    },

    async largest(stepSeconds, from, by, limit, owner) {
      const column = COLUMN[by];
      const sums = sumsOf(owner)
        .where({ step_seconds: stepSeconds })
        .where('at', '>=', from)
        .groupBy(column)
        .select({ key: column })
        .sum({ count: 'count', bytes_up: 'bytes_up', bytes_down: 'bytes_down' })
        .countDistinct({ accounts: 'account_id' })
        .max({ last_at: 'at' })
        .orderBy([
          { column: 'count', order: 'desc' },
          { column: 'key', order: 'asc' },
        ])
        .limit(limit);
      const found = await find<KeySum & { readonly key: string }>(sums);
      return found.map((sum) => ({ ...sum, key: toKey(by, sum.key) }));
    },

    async series(stepSeconds, from, by, keys, owner) {
      const column = COLUMN[by];
      const rows: { at: number; key: string; count: number }[] = await sumsOf(owner)
        .where({ step_seconds: stepSeconds })
        .where('at', '>=', from)
        .whereIn(
          column,
          keys.map((key) => key ?? ''),
        )
        .groupBy('at', column)
        .select({ at: 'at', key: column })
        .sum({ count: 'count' });
      return rows.map((row) => ({ ...row, key: toKey(by, row.key) }));
    },

    async totals(stepSeconds, from, owner) {
      return sumsOf(owner)
        .where({ step_seconds: stepSeconds })
        .where('at', '>=', from)
        .groupBy('at')
        .select('at')
        .sum({ count: 'count' });
    },

    async trim(stepSeconds, before) {
      await db('heartbeat_sums').where({ step_seconds: stepSeconds }).where('at', '<', before).delete();
    },
  };
}

export const NO_GAMES: ReadonlySet<string> = new Set();

/** The GameIDs that `stored` already contains in `column`, for the accounts of `rows`. */
export async function gamesOf(
  stored: Knex.QueryBuilder,
  column: string,
  rows: readonly HeartbeatSumRow[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const inGames = rows.filter(({ gameId }) => gameId !== null);
  const accountIds = [...new Set(inGames.map(({ accountId }) => accountId))];
  const games = new Map<string, Set<string>>();
  for (const ids of slices(accountIds, IDS_PER_STATEMENT)) {
    const found: { account_id: string; game_id: string }[] = await stored
      .clone()
      .whereIn('account_id', ids)
      .whereNotIn(column, ['', OTHER_GAMES])
      .select('account_id', { game_id: column });
    for (const { account_id, game_id } of found) addToSet(games, account_id, game_id);
  }
  return games;
}

export function createSampleStore({ db }: StoreContext): SampleStore {
  return {
    async add(at, sample, measured) {
      const row = { measured, ...toRow(sample) };
      await db('samples')
        .insert(Object.entries(at).map(([step, start]) => ({ step, at: start, ...row })))
        .onConflict(['step', 'at'])
        .merge(added(db, 'samples', Object.keys(row)));
    },

    list: (step, from) =>
      find<StoredSample>(db('samples').where({ step }).where('at', '>=', from).orderBy('at')),

    async trim(step: SampleStep, before) {
      await db('samples').where({ step }).where('at', '<', before).delete();
    },

    async runs(since, before = Number.MAX_SAFE_INTEGER) {
      const byStatus = (runs: Knex.QueryBuilder): Promise<CountRow[]> =>
        find(runs.groupBy('status').select('status').count({ count: '*' }));
      const open = await byStatus(db('runs').whereNull('finished_at'));
      const ended = await byStatus(
        db('runs').where('finished_at', '>=', since).where('finished_at', '<', before),
      );
      const of = (rows: CountRow[], ...statuses: string[]) =>
        rows.filter(({ status }) => statuses.includes(status)).reduce((sum, { count }) => sum + count, 0);
      return {
        queued: of(open, 'queued'),
        running: of(open, 'running'),
        succeeded: of(ended, 'succeeded'),
        failed: of(ended, 'failed', 'timeout'),
      };
    },

    async trafficSince(day) {
      return db('traffic_days')
        .where('day', '>=', day)
        .groupBy('account_id')
        .select({ id: 'account_id' })
        .sum({ up: 'bytes_up', down: 'bytes_down' });
    },
  };
}

interface CountRow {
  status: string;
  count: number;
}
