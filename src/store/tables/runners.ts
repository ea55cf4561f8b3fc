// Runners with their leases, the release of runs of dead runners, pending deliveries of replies, and all delivery attempts.
import type { Knex } from 'knex';
import type { DeliveryStore, RunNode, RunStore } from '../../core/agents/run-store.js';
import type { Delivery, QueuedRun } from '../../core/agents/runs.js';
import type { StoreContext } from '../database.js';
import { find, inTransaction, isDue, toRow } from '../sql.js';
import { type RunRow, toRun } from './run-rows.js';

export function createRunnerStore({ db, isShared }: StoreContext) {
  const runningRuns = (node: string, on: Knex = db) =>
    on('runs').where({ owner: node, status: 'running' }).whereNull('finished_at');

  return {
    async renewLease(runner) {
      await db('runners').insert(toRow(runner)).onConflict('id').merge(['seen_at']);
    },

    runners: () => find<RunNode>(db('runners')),

    async runningOf(node) {
      return runningRuns(node).orderBy('id').select('id', 'agent', 'session');
    },

    async releaseQueued(node, limit) {
      const queued = db('runs')
        .where({ owner: node, status: 'queued' })
        .whereNull('finished_at')
        .limit(limit);
      return db('runs').whereIn('id', queued.select('id')).update({ owner: null });
    },

    release: (node, maxAttempts, error, now, seenAt) =>
      inTransaction(db, async (trx) => {
        // Delete this row first, so that a concurrent renewal of the lease waits for this transaction, or this one for the renewal.
        const unlessRenewed = seenAt === undefined ? {} : { seen_at: seenAt };
        const deleted = await trx('runners')
          .where({ id: node, ...unlessRenewed })
          .delete();
        if (deleted === 0 && seenAt !== undefined) return null;
        const interrupted = () => runningRuns(node, trx);
        await interrupted()
          .whereNotNull('cancel_requested_at')
          .update({ status: 'cancelled', finished_at: now, owner: null });
        const exhausted = () => interrupted().whereRaw('attempt - excused >= ?', [maxAttempts]);
        const failed: string[] = await exhausted().pluck('id');
        await exhausted().update({
          status: 'failed',
          finished_at: now,
          error,
          delivery: 'pending',
          next_delivery_at: now,
        });
        await interrupted().update({ status: 'queued' });
        await trx('runs').where({ owner: node }).whereNull('finished_at').update({ owner: null });
        await trx('runs').where({ owner: node }).whereNotNull('next_delivery_at').update({ owner: null });
        return failed;
      }),

    requeue: (node, now, ids) =>
      inTransaction(db, async (trx) => {
        const held = () => {
          const runs = trx('runs').where({ owner: node }).whereNull('finished_at');
          return ids ? runs.whereIn('id', [...ids]) : runs;
        };
        await held()
          .where('status', 'running')
          .whereNotNull('cancel_requested_at')
          .update({ status: 'cancelled', finished_at: now, owner: null });
        await held()
          .where('status', 'running')
          .update({ status: 'queued', excused: trx.raw('excused + 1') });
        await held().update({ owner: null });
        if (!ids)
          await trx('runs').where({ owner: node }).whereNotNull('next_delivery_at').update({ owner: null });
      }),

    heldBy: (node) => db('runs').where({ owner: node }).whereNull('finished_at').orderBy('id').pluck('id'),

    async adopt(node, limit, exceptAgents = []) {
      // Called every second, mostly without a result: acquire the write lock only when there is a result.
      const unclaimed = (on: Knex) =>
        on('runs').whereNull('owner').whereNull('finished_at').whereNotIn('agent', exceptAgents);
      if (limit <= 0 || !(await unclaimed(db).first('id'))) return [];
      return inTransaction(db, async (trx) => {
        const oldest = unclaimed(trx).orderBy('id').limit(limit).select('id', 'agent', 'session');
        const rows: QueuedRun[] = await (isShared ? oldest.forUpdate().skipLocked() : oldest);
        const ids = rows.map(({ id }) => id);
        await trx('runs').whereIn('id', ids).update({ owner: node });
        return rows;
      });
    },

    async requestCancel(id, now) {
      return (await db('runs').where({ id, status: 'running' }).update({ cancel_requested_at: now })) > 0;
    },

    cancelRequests: (node) => runningRuns(node).whereNotNull('cancel_requested_at').pluck('id'),
  } satisfies Partial<RunStore>;
}

export function createDeliveryStore({ db }: StoreContext): DeliveryStore {
  const pending = (node: string) =>
    db('runs')
      .whereNotNull('next_delivery_at')
      .where((either) => either.where({ owner: node }).orWhereNull('owner'));

  return {
    async due(node, now, limit) {
      const due = () =>
        pending(node).where(isDue('next_delivery_at', now)).orderBy(['next_delivery_at', 'id']).limit(limit);
      const rows: RunRow[] = await due();
      const unclaimed = rows.filter((row) => row.owner === null).map(({ id }) => id);
      if (unclaimed.length === 0) return rows.map(toRun);
      // Another daemon may adopt the same runs. This daemon attempts only those that are its own after the update.
      await db('runs').whereIn('id', unclaimed).whereNull('owner').update({ owner: node });
      const claimed: RunRow[] = await due().where({ owner: node });
      return claimed.map(toRun);
    },

    async nextDueAt(node) {
      const row = await pending(node).min({ at: 'next_delivery_at' }).first();
      return row?.at ?? null;
    },

    record: (delivery, nextAt) =>
      inTransaction(db, async (trx) => {
        await trx('run_deliveries').insert(toRow(delivery));
        const ended = delivery.delivered ? 'delivered' : 'failed';
        await trx('runs')
          .where({ id: delivery.runId })
          .update({
            delivery: nextAt === null ? ended : 'pending',
            delivery_tries: delivery.attempt,
            next_delivery_at: nextAt,
            ...(nextAt === null ? { owner: null } : {}),
          });
      }),

    async dismiss(runId) {
      await db('runs').where({ id: runId }).update({ delivery: 'none', next_delivery_at: null, owner: null });
    },

    async ofRun(runId) {
      const tried = await find<Delivery>(db('run_deliveries').where({ run_id: runId }).orderBy('attempt'));
      return tried.map((delivery) => ({ ...delivery, delivered: Boolean(delivery.delivered) }));
    },
  };
}
