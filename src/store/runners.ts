// Who holds which runs: runners with their leases, and how what a dead one held is handed over.
import type { Knex } from 'knex';
import type { Runner, RunStore } from '../core/agents/run-store.js';
import type { QueuedRun } from '../core/agents/runs.js';
import { inTransaction } from './transaction.js';

interface RunnerRow {
  id: string;
  host: string;
  pid: number | string;
  pid_start: string;
  seen_at: number | string;
}

/** Runs changed by one statement. */
const IDS_PER_STATEMENT = 500;

export function createRunnerStore(
  db: Knex,
): Pick<RunStore, 'seen' | 'runners' | 'runningOf' | 'release' | 'adopt'> {
  return {
    async seen(runner) {
      await db('runners').insert(toRow(runner)).onConflict('id').merge(['seen_at']);
    },

    async runners() {
      const rows: RunnerRow[] = await db('runners');
      return rows.map((row) => ({
        id: row.id,
        host: row.host,
        pid: Number(row.pid),
        pidStart: row.pid_start,
        seenAt: Number(row.seen_at),
      }));
    },

    async runningOf(owner) {
      const rows: QueuedRun[] = await db('runs')
        .where({ owner, status: 'running' })
        .whereNull('finished_at')
        .orderBy('id')
        .select('id', 'agent', 'session');
      return rows;
    },

    release: (owner, maxAttempts, error, now) =>
      inTransaction(db, async (trx) => {
        const interrupted = () => trx('runs').where({ owner, status: 'running' }).whereNull('finished_at');
        const failed: string[] = await interrupted().where('attempt', '>=', maxAttempts).pluck('id');
        await interrupted().where('attempt', '>=', maxAttempts).update({
          status: 'failed',
          finished_at: now,
          error,
          delivery: 'pending',
          next_delivery_at: now,
        });
        await interrupted().update({ status: 'queued' });
        await trx('runs').where({ owner }).whereNull('finished_at').update({ owner: null });
        await trx('runs').where({ owner }).whereNotNull('next_delivery_at').update({ owner: null });
        await trx('runners').where({ id: owner }).delete();
        return failed;
      }),

    async adopt(owner, limit) {
      // Asked every second and mostly in vain: only what is found needs the write lock.
      const free = (on: Knex) => on('runs').whereNull('owner').whereNull('finished_at');
      if (limit <= 0 || !(await free(db).first('id'))) return [];
      return inTransaction(db, async (trx) => {
        const rows: QueuedRun[] = await free(trx)
          .orderBy('id')
          .limit(limit)
          .forUpdate()
          .select('id', 'agent', 'session');
        for (let start = 0; start < rows.length; start += IDS_PER_STATEMENT) {
          const ids = rows.slice(start, start + IDS_PER_STATEMENT).map(({ id }) => id);
          await trx('runs').whereIn('id', ids).update({ owner });
        }
        return rows;
      });
    },
  };
}

function toRow(runner: Runner): RunnerRow {
  return {
    id: runner.id,
    host: runner.host,
    pid: runner.pid,
    pid_start: runner.pidStart,
    seen_at: runner.seenAt,
  };
}
