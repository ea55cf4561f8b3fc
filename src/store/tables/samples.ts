// The samples table, and counts from other tables for the overview.
import type { Knex } from 'knex';
import type { SampleStep, SampleStore, StoredSample } from '../../core/stats/history.js';
import { fromRow, toRow } from '../sql/rows.js';

const COLUMNS = [
  'measured',
  'sessions',
  'players_online',
  'bytes_up',
  'bytes_down',
  'logins',
  'failures',
  'heartbeats',
  'runs',
];

export function createSampleStore(db: Knex): SampleStore {
  return {
    async add(at, sample, measured) {
      const grown = Object.fromEntries(
        COLUMNS.map((column) => [column, db.raw('?? + ??', [`samples.${column}`, `excluded.${column}`])]),
      );
      await db('samples')
        .insert(Object.entries(at).map(([step, start]) => ({ step, at: start, measured, ...toRow(sample) })))
        .onConflict(['step', 'at'])
        .merge(grown);
    },

    async list(step, from) {
      const rows: object[] = await db('samples').where({ step }).where('at', '>=', from).orderBy('at');
      return rows.map((row) => fromRow<StoredSample>(row));
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
