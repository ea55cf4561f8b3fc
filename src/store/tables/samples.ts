// The samples table, and counts from other tables for the overview.
import type { Knex } from 'knex';
import type { SampleStep, SampleStore, StoredSample } from '../../core/stats/history.js';

const COLUMNS = [
  ['sessions', 'sessions'],
  ['playersOnline', 'players_online'],
  ['bytesUp', 'bytes_up'],
  ['bytesDown', 'bytes_down'],
  ['logins', 'logins'],
  ['failures', 'failures'],
  ['heartbeats', 'heartbeats'],
  ['runs', 'runs'],
] as const;

export function createSampleStore(db: Knex): SampleStore {
  return {
    async add(at, sample, measured) {
      const values = Object.fromEntries(COLUMNS.map(([name, column]) => [column, sample[name]]));
      const grown = Object.fromEntries(
        ['measured', ...COLUMNS.map(([, column]) => column)].map((column) => [
          column,
          db.raw('?? + ??', [`samples.${column}`, `excluded.${column}`]),
        ]),
      );
      await db('samples')
        .insert(Object.entries(at).map(([step, start]) => ({ step, at: start, measured, ...values })))
        .onConflict(['step', 'at'])
        .merge(grown);
    },

    async list(step, from) {
      const rows: Record<string, unknown>[] = await db('samples')
        .where({ step })
        .where('at', '>=', from)
        .orderBy('at');
      return rows.map(
        (row) =>
          ({
            at: Number(row['at']),
            measured: Number(row['measured']),
            ...Object.fromEntries(COLUMNS.map(([name, column]) => [name, Number(row[column])])),
          }) as unknown as StoredSample,
      );
    },

    async trim(step: SampleStep, before) {
      await db('samples').where({ step }).where('at', '<', before).delete();
    },

    async runs(since, before = Number.MAX_SAFE_INTEGER) {
      const open: CountRow[] = await db('runs')
        .whereNull('finished_at')
        .groupBy('status')
        .select('status')
        .count({ count: '*' });
      const ended: CountRow[] = await db('runs')
        .where('finished_at', '>=', since)
        .where('finished_at', '<', before)
        .groupBy('status')
        .select('status')
        .count({ count: '*' });
      const of = (rows: CountRow[], ...statuses: string[]) =>
        rows
          .filter(({ status }) => statuses.includes(status))
          .reduce((sum, { count }) => sum + Number(count), 0);
      return {
        queued: of(open, 'queued'),
        running: of(open, 'running'),
        succeeded: of(ended, 'succeeded'),
        failed: of(ended, 'failed', 'timeout'),
      };
    },

    async trafficSince(day) {
      const rows: { account_id: string; bytes_up: number | string; bytes_down: number | string }[] = await db(
        'traffic_days',
      )
        .where('day', '>=', day)
        .groupBy('account_id')
        .select('account_id')
        .sum({ bytes_up: 'bytes_up', bytes_down: 'bytes_down' });
      return rows.map((row) => ({
        id: row.account_id,
        up: Number(row.bytes_up),
        down: Number(row.bytes_down),
      }));
    },
  };
}

interface CountRow {
  status: string;
  count: number | string;
}
