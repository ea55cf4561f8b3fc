// The heartbeat_sums table.
import type { Knex } from 'knex';
import type { By, HeartbeatSumStore } from '../core/heartbeats/heartbeat-sums.js';

/** Rows in one statement; seven bound values each. */
const ROWS_PER_STATEMENT = 200;

const COLUMN: Readonly<Record<By, string>> = { game: 'game_id', account: 'account_id' };
/** No GameID is the empty text: null would be a different key each time. */
const toKey = (by: By, value: string): string | null => (by === 'game' && value === '' ? null : value);

type Integer = number | string;

export function createHeartbeatSumStore(db: Knex): HeartbeatSumStore {
  return {
    async add(steps, rows) {
      const all = [...steps].flatMap(([stepSeconds, at]) =>
        rows.map(({ accountId, gameId, count, bytesUp, bytesDown }) => ({
          step_seconds: stepSeconds,
          at,
          account_id: accountId,
          game_id: gameId ?? '',
          count,
          bytes_up: bytesUp,
          bytes_down: bytesDown,
        })),
      );
      const grown = Object.fromEntries(
        ['count', 'bytes_up', 'bytes_down'].map((column) => [
          column,
          db.raw('?? + ??', [`heartbeat_sums.${column}`, `excluded.${column}`]),
        ]),
      );
      await db.transaction(async (trx) => {
        for (let start = 0; start < all.length; start += ROWS_PER_STATEMENT) {
          await trx('heartbeat_sums')
            .insert(all.slice(start, start + ROWS_PER_STATEMENT))
            .onConflict(['step_seconds', 'at', 'account_id', 'game_id'])
            .merge(grown);
        }
      });
    },

    async largest(stepSeconds, from, by, limit) {
      const column = COLUMN[by];
      const rows: Record<string, Integer>[] = await db('heartbeat_sums')
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
      return rows.map((row) => ({
        key: toKey(by, String(row['key'])),
        count: Number(row['count']),
        accounts: Number(row['accounts']),
        bytesUp: Number(row['bytes_up']),
        bytesDown: Number(row['bytes_down']),
        lastAt: Number(row['last_at']),
      }));
    },

    async series(stepSeconds, from, by, keys) {
      const column = COLUMN[by];
      const rows: { at: Integer; key: string; count: Integer }[] = await db('heartbeat_sums')
        .where({ step_seconds: stepSeconds })
        .where('at', '>=', from)
        .whereIn(
          column,
          keys.map((key) => key ?? ''),
        )
        .groupBy('at', column)
        .select({ at: 'at', key: column })
        .sum({ count: 'count' });
      return rows.map((row) => ({ at: Number(row.at), key: toKey(by, row.key), count: Number(row.count) }));
    },

    async totals(stepSeconds, from) {
      const rows: { at: Integer; count: Integer }[] = await db('heartbeat_sums')
        .where({ step_seconds: stepSeconds })
        .where('at', '>=', from)
        .groupBy('at')
        .select('at')
        .sum({ count: 'count' });
      return rows.map((row) => ({ at: Number(row.at), count: Number(row.count) }));
    },

    async trim(stepSeconds, before) {
      await db('heartbeat_sums').where({ step_seconds: stepSeconds }).where('at', '<', before).delete();
    },
  };
}
