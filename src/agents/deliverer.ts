// Delivers replies from the outbox of runs to the channels of their agents, and stores every attempt.
import type { DeliveryStore } from '../core/agents/delivery-store.js';
import { type Channel, type DeliveryOutcome, deliveredReply, type Run } from '../core/agents/runs.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createOutbox, nextTryAt, type Outbox, type RetryPlan } from './outbox.js';

/** A channel with its retry plan. */
export interface DeliveryPlan extends RetryPlan {
  readonly channel: Channel;
}

export function createDeliverer(deps: {
  readonly store: DeliveryStore;
  readonly owner: string;
  /** By agent name. */
  readonly plans: ReadonlyMap<string, DeliveryPlan>;
  readonly concurrency: number;
  readonly now: Clock;
  /** In [0, 1), as Math.random. */
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}): Outbox {
  const { store, owner, now, log } = deps;

  async function attempt(run: Run, signal: AbortSignal): Promise<void> {
    const startedAt = now();
    const plan = deps.plans.get(run.agent);
    // The configuration no longer contains the agent or its channel.
    if (!plan) return store.dismiss(run.id);
    const outcome = await deliver(run, plan, signal);
    // The shutdown interrupted this attempt: it does not count, and the delivery is due again at the next start.
    if (!outcome.ok && signal.aborted) return;
    const tries = run.deliveryTries + 1;
    const nextAt = nextTryAt(outcome, tries, plan, now(), deps.random);
    await store.record(
      {
        id: deps.newId(),
        runId: run.id,
        attempt: tries,
        channel: plan.channel.type,
        startedAt,
        finishedAt: now(),
        delivered: outcome.ok,
        detail: outcome.detail,
      },
      nextAt,
    );
    if (nextAt === null && !outcome.ok) {
      log.warn({ run: run.id, agent: run.agent, tries, detail: outcome.detail }, 'reply not delivered');
    }
  }

  async function deliver(run: Run, plan: DeliveryPlan, signal: AbortSignal): Promise<DeliveryOutcome> {
    const reply = deliveredReply(run);
    if (!reply) return { ok: false, detail: `the run is ${run.status}`, again: false };
    try {
      return await plan.channel.deliver(reply, signal);
    } catch (err) {
      log.error({ err, run: run.id }, 'channel threw an exception');
      return { ok: false, detail: err instanceof Error ? err.message : String(err), again: true };
    }
  }

  return createOutbox<Run>({
    name: 'deliveries',
    due: (limit) => store.due(owner, now(), limit),
    nextDueAt: () => store.nextDueAt(owner),
    keyOf: ({ id }) => id,
    attempt,
    concurrency: deps.concurrency,
    now,
    log,
  });
}
