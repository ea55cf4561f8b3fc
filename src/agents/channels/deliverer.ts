// Delivers replies from the outbox of runs to the channels of their agents, and stores every attempt.
import { type DeliveryOutcome, deliveredReply, type Run } from '../../core/agents/runs.js';
import { createOrderedIds } from '../../core/ids.js';
import type { DeliverySchedule } from '../agent-list.js';
import type { AgentContext } from '../context.js';
import { createOutbox, nextTryAt, type Outbox } from './outbox.js';

const MAX_CONCURRENT_DELIVERIES = 8;

export function createDeliverer({ deliveries: store, node, byName, now, log }: AgentContext): Outbox {
  const newId = createOrderedIds(now);

  async function attempt(run: Run, signal: AbortSignal): Promise<void> {
    const startedAt = now();
    const schedule = byName.get(run.agent)?.schedule;
    // The configuration no longer contains the agent or its channel.
    if (!schedule) return store.dismiss(run.id);
    const outcome = await deliver(run, schedule, signal);
    // The shutdown interrupted this attempt: it does not count, and the delivery is due again at the next start.
    if (!outcome.ok && signal.aborted) return;
    const tries = run.deliveryTries + 1;
    const nextAt = nextTryAt(outcome, tries, schedule, now(), Math.random);
    await store.record(
      {
        id: newId(),
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
    concurrency: MAX_CONCURRENT_DELIVERIES,
    now,
    log,
  });
}
