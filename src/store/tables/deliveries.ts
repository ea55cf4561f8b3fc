// Pending deliveries of replies, and all delivery attempts.
import type { DeliveryStore } from '../../core/agents/run-store.js';
import type { Delivery } from '../../core/agents/runs.js';
import type { StoreContext } from '../database.js';
import { find, inTransaction, isDue, toRow } from '../sql.js';
import { type RunRow, toRun } from './run-rows.js';

export function createDeliveryStore({ db }: StoreContext): DeliveryStore {
  /** Pending deliveries of `node`, or without a node. */
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
      // Another daemon may adopt the same runs. This daemon attempts only those that it owns after the update.
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
