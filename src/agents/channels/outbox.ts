// A durable outbox: delivers items from the database, with growing delays between attempts, until an item is delivered or given up.
// Replies of agents and notices use it.
import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import { type DeliveryOutcome, deliveredReply, type Run } from '../../core/agents/runs.js';
import { createOrderedIds } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import { type Clock, HOUR_MS } from '../../core/time/clock.js';
import type { AgentContext, DeliverySchedule } from '../context.js';

interface OutboxOptions<Item> {
  /** The name in the log: 'deliveries'. */
  readonly name: string;
  /** Returns the due items, earliest first. They may include items whose attempt is in progress. */
  readonly due: (limit: number) => Promise<readonly Item[]>;
  /** Returns when the next item is due, in ms; null: there is none. */
  readonly nextDueAt: () => Promise<number | null>;
  readonly keyOf: (item: Item) => string;
  /** Makes one attempt and records it. The outbox logs a rejection and retries the item shortly after. */
  readonly attempt: (item: Item, signal: AbortSignal) => Promise<void>;
  /** Maximum number of concurrent attempts. */
  readonly concurrency: number;
  readonly now: Clock;
  readonly log: Pick<Log, 'error'>;
}

export type Outbox = ReturnType<typeof createOutbox>;

const DELAY_FACTOR = 3;
const MAX_DELAY_MS = HOUR_MS;
/** Random variation of delays, so that items that failed together are not retried together. */
const JITTER = 0.2;
/** Delay after a failed read or write of the database, in ms. */
const STORE_RETRY_MS = 1000;

/**
 * Returns when the next attempt is due, in ms; null when there is none.
 * @param tries number of attempts so far
 * @param random in [0, 1), as Math.random
 */
export function nextTryAt(
  outcome: DeliveryOutcome,
  tries: number,
  schedule: Omit<DeliverySchedule, 'channel'>,
  now: number,
  random: () => number,
): number | null {
  if (outcome.ok || !outcome.again || tries >= schedule.maxTries) return null;
  const delayMs = Math.min(schedule.backoffMs * DELAY_FACTOR ** (tries - 1), MAX_DELAY_MS);
  const jitter = 1 + JITTER * (2 * random() - 1);
  const retryAfterMs = Math.min(outcome.afterMs ?? 0, MAX_DELAY_MS);
  return Math.ceil(now + Math.max(delayMs * jitter, retryAfterMs));
}

export function createOutbox<Item>(options: OutboxOptions<Item>) {
  const { name, keyOf, now, log } = options;
  const queue = new PQueue({ concurrency: options.concurrency });
  const stopped = new AbortController();
  /** Keys of the items whose attempt is in progress. */
  const inProgress = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | null = null;
  let mustReadAgain = false;
  let isStopping = false;

  function wake(): void {
    if (isStopping) return;
    mustReadAgain = true;
    reading ??= readDue().finally(() => {
      reading = null;
    });
  }

  async function readDue(): Promise<void> {
    clearTimeout(timer);
    try {
      // An item that was added before `stop` is begun too: the end of a run may come just before it.
      while (mustReadAgain) {
        mustReadAgain = false;
        await begin();
      }
    } catch (err) {
      log.error({ err, outbox: name }, 'reading the outbox failed; will retry');
      timer = setTimeout(wake, STORE_RETRY_MS);
    }
  }

  /** Starts attempts for due items, up to the maximum number of concurrent attempts. The end of each wakes the outbox again. */
  async function begin(): Promise<void> {
    const room = options.concurrency - inProgress.size;
    const nextAt = room > 0 ? await options.nextDueAt() : null;
    if (nextAt === null) return;
    const waitMs = nextAt - now();
    // Most often nothing is due. A longer wait than any delay is of a clock that was set back, so the item is due.
    const isWaiting = waitMs > 0 && waitMs <= MAX_DELAY_MS;
    // Items in progress are still due in the database.
    const due = isWaiting ? [] : await options.due(inProgress.size + room);
    for (const item of due.filter((each) => !inProgress.has(keyOf(each))).slice(0, room)) {
      const key = keyOf(item);
      inProgress.add(key);
      void queue.add(async () => {
        await attempt(item, key);
        inProgress.delete(key);
        wake();
      });
    }
    if (inProgress.size > 0 || isStopping) return;
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(Math.max(waitMs, 0), MAX_DELAY_MS));
  }

  async function attempt(item: Item, key: string): Promise<void> {
    try {
      await options.attempt(item, stopped.signal);
    } catch (err) {
      // The attempt may have reached the receiver. The repeated attempt has the same id, so that the receiver can detect it.
      log.error({ err, outbox: name, key }, 'recording a delivery attempt failed; will retry');
      await pause(STORE_RETRY_MS);
    }
  }

  return {
    /** Delivers due items. Call it at the start and when an item is added. */
    wake,
    /** Begins attempts only for items added before, and waits for them for `graceMs`. Undelivered items stay in the database. */
    async stop(graceMs: number): Promise<void> {
      isStopping = true;
      queue.clear();
      const cut = setTimeout(() => stopped.abort(), graceMs);
      await reading;
      clearTimeout(timer);
      await queue.onPendingZero();
      clearTimeout(cut);
    },
  };
}

const MAX_CONCURRENT_DELIVERIES = 8;

/** Delivers replies of runs to the channels of their agents, and stores every attempt. */
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
