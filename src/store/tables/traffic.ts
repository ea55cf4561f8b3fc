// The tables traffic_days and traffic_parts: the traffic of accounts per day, and what of it is known by game and by exit.
import type { Knex } from 'knex';
import type { Traffic, TrafficOfDay, TrafficSums } from '../../core/accounts/usage/limits.js';
import {
  type AccountTraffic,
  type DayRanges,
  type NamedTraffic,
  sumOf,
  type TrafficReportStore,
} from '../../core/accounts/usage/traffic-report.js';
import type { TrafficStore } from '../../core/accounts/usage/traffic-store.js';
import { sumUp } from '../../core/heartbeats/heartbeat-sums.js';
import { grouped } from '../../core/maps.js';
import type { ActivityRow, Database, StoreContext } from '../database.js';
import { added, countOf, find, fromRow, having, inTransaction, ofOwner, slices, toRow } from '../sql.js';
import { gamesOf, NO_GAMES } from './statistics.js';

export function createTrafficStore(context: StoreContext): TrafficStore {
  const { db, recordActivity, isNewBatch, snapshot } = context;
  return {
    add: (rows, batch, maxGames) =>
      inTransaction(db, async (trx) => {
        if (!(await isNewBatch(trx, 'traffic', batch))) return;
        await addTraffic(trx, rows, true);
        await addParts(trx, rows, maxGames);
        await recordActivity(trx, rows.filter(hasBytes).map(toActivity));
      }),

    async days(accountId, fromDay) {
      const days = db('traffic_days').where({ account_id: accountId }).where('day', '>=', fromDay);
      const columns = ['account_id', 'day', 'bytes_up', 'bytes_down', 'sessions'];
      return find<TrafficOfDay>(days.orderBy('day').select(columns));
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

/** Adds traffic per day. Drops rows of accounts that no longer exist. @param hasParts whether `parts` name every game and exit */
export async function addTraffic(trx: Knex, rows: readonly TrafficOfDay[], hasParts = false): Promise<void> {
  for (const slice of slices(rows)) await addSlice(trx, slice, hasParts);
}

async function addSlice(trx: Knex, rows: readonly TrafficOfDay[], hasParts: boolean): Promise<void> {
  const values = rows
    .map(() => '(?, cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as bigint))')
    .join(', ');
  await trx.raw(
    `with moved(account_id, day, bytes_up, bytes_down, sessions) as (values ${values})
     insert into traffic_days (account_id, day, bytes_up, bytes_down, sessions, has_parts)
     select moved.account_id, moved.day, moved.bytes_up, moved.bytes_down, moved.sessions, ${hasParts ? 1 : 0}
     from moved join accounts on accounts.id = moved.account_id where true
     on conflict (account_id, day) do update set bytes_up = traffic_days.bytes_up + excluded.bytes_up,
       bytes_down = traffic_days.bytes_down + excluded.bytes_down, sessions = traffic_days.sessions + excluded.sessions`,
    rows.flatMap((row) => [row.accountId, row.day, row.bytesUp, row.bytesDown, row.sessions]),
  );
}

/** Adds the traffic of games and exits. A day keeps at most `maxGames` GameIDs per account. */
async function addParts(trx: Knex, rows: readonly TrafficOfDay[], maxGames: number): Promise<void> {
  const parts = rows.flatMap(({ accountId, day, parts: of = [] }) =>
    of.map(({ name, ...part }) => ({ accountId, day, gameId: name, count: 0, ...part })),
  );
  const grown = added(trx, 'traffic_parts', ['bytes_up', 'bytes_down']);
  for (const day of new Set(parts.map((part) => part.day))) {
    const [games, exits] = (['game', 'exit'] as const).map((kind) =>
      parts.filter((part) => part.day === day && part.kind === kind),
    ) as [typeof parts, typeof parts];
    const stored = trx('traffic_parts').where({ day, kind: 'game' });
    const known = await gamesOf(stored, 'name', games);
    const summed = sumUp(games, maxGames, (accountId) => known.get(accountId) ?? NO_GAMES);
    const bounded = Array.from(summed.all(), (row) => ({ kind: 'game', ...row }));
    const values = [...bounded, ...exits].map(({ accountId, kind, gameId, bytesUp, bytesDown }) =>
      toRow({ accountId, day, kind, name: gameId, bytesUp, bytesDown }),
    );
    for (const slice of slices(values)) {
      const insert = trx('traffic_parts').insert(slice);
      await insert.onConflict(['account_id', 'day', 'kind', 'name']).merge(grown);
    }
  }
}

/** Most accounts, about, of one statement over many days. */
const ACCOUNTS_PER_SLICE = 5_000;
/** Up to this number of days a statement finds the rows by their day, in one slice. */
const DAYS_BY_INDEX = 7;

type Slice = readonly [from: string, to: string | null];

/** Ranges of account ids, which begin with any hexadecimal digits. */
function slicesOf(accounts: number): Slice[] {
  let starts = [''];
  while (accounts / starts.length > ACCOUNTS_PER_SLICE)
    starts = starts.flatMap((start) => [...'0123456789abcdef'].map((digit) => start + digit));
  return starts.map((from, i) => [from, starts[i + 1] ?? null]);
}

/** Long reports are read in slices of accounts, so that no statement takes long and no answer holds the main thread. */
export function createTrafficReportStore({ db, scans }: StoreContext): TrafficReportStore {
  async function inSlices<Row>(
    days: DayRanges,
    owner: string | undefined,
    read: (within: (table: string) => Knex.QueryBuilder) => Promise<Row[]>,
  ): Promise<Row[]> {
    const isLong = days.some(([first, last]) => last - first >= DAYS_BY_INDEX);
    const accounts = isLong ? await countOf(having(scans('accounts'), { owner })) : 0;
    const found: Row[] = [];
    for (const [from, to] of slicesOf(accounts)) {
      const rows = await read((table) => {
        const query = ofOwner(scans, scans(table), 'account_id', owner);
        // The sign keeps the index of the day from being used: rows of one account are together in the other.
        const day = scans.raw(isLong ? '+day' : 'day') as unknown as string;
        query.where((any) => {
          for (const range of days) any.orWhereBetween(day, [...range]);
        });
        if (from !== '') query.where('account_id', '>=', from);
        return to === null ? query : query.where('account_id', '<', to);
      });
      for (const row of rows) found.push(row);
    }
    return found;
  }

  const BYTES = { bytes_up: 'bytes_up', bytes_down: 'bytes_down' };
  return {
    byAccount: (days, owner) =>
      inSlices(days, owner, (within) =>
        find<AccountTraffic>(
          within('traffic_days')
            .groupBy('account_id')
            .select('account_id')
            .sum({ ...BYTES, sessions: 'sessions' }),
        ),
      ),

    async byPart(kind, days, knownFrom, owner) {
      const isKnown = scans.raw('case when has_parts = 1 and day >= ? then 1 else 0 end', [knownFrom]);
      const ofDays = await inSlices(days, owner, (within) =>
        find<Traffic & { readonly isKnown: number }>(
          within('traffic_days')
            .groupBy('is_known')
            .select({ is_known: isKnown } as Record<string, Knex.Raw>)
            .sum(BYTES),
        ),
      );
      const keptDays = days.map(([first, last]) => [Math.max(first, knownFrom), last] as const);
      const parts = await inSlices(keptDays, owner, (within) =>
        find<NamedTraffic & { readonly name: string; readonly accounts: number }>(
          within('traffic_parts')
            .where({ kind })
            .groupBy('name')
            .select('name')
            .sum(BYTES)
            .countDistinct({ accounts: 'account_id' }),
        ),
      );
      const named: NamedTraffic[] = Array.from(
        grouped(parts, ({ name }) => name),
        ([name, of]) => ({
          name,
          accounts: of.reduce((sum, { accounts }) => sum + accounts, 0),
          ...sumOf(of),
        }),
      );
      const known = sumOf(ofDays.filter((sum) => sum.isKnown === 1));
      const ofNames = sumOf(named);
      const without = {
        bytesUp: Math.max(0, known.bytesUp - ofNames.bytesUp),
        bytesDown: Math.max(0, known.bytesDown - ofNames.bytesDown),
      };
      if (without.bytesUp + without.bytesDown > 0) named.push({ name: null, accounts: null, ...without });
      return { sums: named, unknown: sumOf(ofDays.filter((sum) => sum.isKnown === 0)) };
    },

    trimParts(day, limit) {
      const key = ['account_id', 'day', 'kind', 'name'];
      const old = db('traffic_parts').where('day', '<', day).limit(limit);
      return db('traffic_parts').whereIn(key, old.select(key)).delete();
    },
  };
}
