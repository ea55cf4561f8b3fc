// The tables heartbeat_sums, samples and traffic_days, and counts of other tables for the overview.
import type { Knex } from 'knex';
import type { TrafficOfDay, TrafficSums } from '../../core/accounts/usage/limits.js';
import type { TrafficStore } from '../../core/accounts/usage/traffic-store.js';
import {
  type By,
  type HeartbeatSumRow,
  type HeartbeatSumStore,
  type KeySum,
  OTHER_GAMES,
  sumUp,
} from '../../core/heartbeats/heartbeat-sums.js';
import type { SampleStep, SampleStore, StoredSample } from '../../core/stats/history.js';
import type { ActivityRow, Database, StoreContext } from '../database.js';
import { added, find, fromRow, IDS_PER_STATEMENT, inTransaction, ofOwner, slices, toRow } from '../sql.js';

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
          const games = await gamesOf(trx, stepSeconds, at, rows);
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

const NO_GAMES: ReadonlySet<string> = new Set();

/** The GameIDs that a step already contains, for the accounts of `rows`. */
async function gamesOf(
  trx: Knex,
  stepSeconds: number,
  at: number,
  rows: readonly HeartbeatSumRow[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const inGames = rows.filter(({ gameId }) => gameId !== null);
  const accountIds = [...new Set(inGames.map(({ accountId }) => accountId))];
  const games = new Map<string, Set<string>>();
  for (const ids of slices(accountIds, IDS_PER_STATEMENT)) {
    const found: { account_id: string; game_id: string }[] = await trx('heartbeat_sums')
      .where({ step_seconds: stepSeconds, at })
      .whereIn('account_id', ids)
      .whereNotIn('game_id', ['', OTHER_GAMES])
      .select('account_id', 'game_id');
    for (const { account_id, game_id } of found) {
      const known = games.get(account_id) ?? new Set();
      games.set(account_id, known.add(game_id));
    }
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
