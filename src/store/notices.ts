// The notices table.
import type { Knex } from 'knex';
import type { NoticeStore, NoticeType } from '../core/notices/notices.js';

interface NoticeRow {
  key: string;
  id: string;
  type: string;
  at: number | string;
  data: string;
  tries: number;
  next_at: number | string | null;
}

/** Rows in one statement; seven bound values each. */
const ROWS_PER_STATEMENT = 200;

export function createNoticeStore(db: Knex): NoticeStore {
  return {
    async add(notices) {
      for (let start = 0; start < notices.length; start += ROWS_PER_STATEMENT) {
        const rows = notices.slice(start, start + ROWS_PER_STATEMENT).map(({ data, ...notice }) => ({
          ...notice,
          data: JSON.stringify(data),
          tries: 0,
          next_at: notice.at,
        }));
        await db('notices').insert(rows).onConflict('key').ignore();
      }
    },

    async due(now, limit) {
      const rows: NoticeRow[] = await db('notices')
        .where('next_at', '<=', now)
        .orderBy(['next_at', 'at'])
        .limit(limit);
      return rows.map(({ key, id, type, at, data, tries }) => ({
        key,
        id,
        type: type as NoticeType,
        at: Number(at),
        data: JSON.parse(data) as Record<string, unknown>,
        tries,
      }));
    },

    async nextDueAt() {
      const row = await db('notices').min({ at: 'next_at' }).first();
      return row?.at == null ? null : Number(row.at);
    },

    async tried(key, nextAt) {
      await db('notices').where({ key }).update({ next_at: nextAt }).increment('tries', 1);
    },

    async failedRuns(since, limit) {
      const rows: {
        id: string;
        agent: string;
        status: string;
        error: string | null;
        finished_at: number | string;
      }[] = await db('runs')
        .whereIn('status', ['failed', 'timeout'])
        .where('finished_at', '>=', since)
        .orderBy('finished_at')
        .limit(limit)
        .select('id', 'agent', 'status', 'error', 'finished_at');
      return rows.map(({ finished_at, ...run }) => ({ ...run, finishedAt: Number(finished_at) }));
    },

    async trim(before) {
      await db('notices').where('at', '<', before).whereNull('next_at').delete();
    },
  };
}
