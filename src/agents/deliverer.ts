// Delivers replies from the outbox of runs to the channels of their agents, and stores every attempt.
import type { DeliveryStore } from '../core/agents/run-store.js';
import { type Channel, type DeliveryOutcome, deliveredReply, type Run } from '../core/agents/runs.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createOutbox, nextTryAt, type Outbox, type RetrySchedule } from './outbox.js';

/** A channel with its retry schedule. */
export interface DeliverySchedule extends RetrySchedule {
  readonly channel: Channel;
}

export function createDeliverer(deps: {
  readonly store: DeliveryStore;
  readonly node: string;
  /** By agent name. */
  readonly schedules: ReadonlyMap<string, DeliverySchedule>;
  readonly concurrency: number;
  readonly now: Clock;
  /** In [0, 1), as Math.random. */
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}): Outbox {
  const { store, node, now, log } = deps;

  async function attempt(run: Run, signal: AbortSignal): Promise<void> {
    const startedAt = now();
    const schedule = deps.schedules.get(run.agent);
    // The configuration no longer contains the agent or its channel.
    if (!schedule) return store.dismiss(run.id);
    const outcome = await deliver(run, schedule, signal);
    // The shutdown interrupted this attempt: it does not count, and the delivery is due again at the next start.
    if (!outcome.ok && signal.aborted) return;
    const tries = run.deliveryTries + 1;
    const nextAt = nextTryAt(outcome, tries, schedule, now(), deps.random);
    await store.record(
      {
        id: deps.newId(),
        runId: run.id,
        attempt: tries,
        channel: schedule.channel.type,
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

  async function deliver(
    run: Run,
    schedule: DeliverySchedule,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    const reply = deliveredReply(run);
    if (!reply) return { ok: false, detail: `the run is ${run.status}`, again: false };
    try {
      return await schedule.channel.deliver(reply, signal);
    } catch (err) {
      log.error({ err, run: run.id }, 'channel threw an exception');
      return { ok: false, detail: err instanceof Error ? err.message : String(err), again: true };
    }
  }

  return createOutbox<Run>({
    name: 'deliveries',
    due: (limit) => store.due(node, now(), limit),
    nextDueAt: () => store.nextDueAt(node),
    keyOf: ({ id }) => id,
    attempt,
    concurrency: deps.concurrency,
    now,
    log,
  });
}
