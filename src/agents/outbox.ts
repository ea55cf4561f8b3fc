// A durable outbox: what stands in the database to be sent is tried, again with growing pauses, until it is taken or given
// up. Replies of agents and notices of the daemon are two of them.
import PQueue from 'p-queue';
import type { DeliveryOutcome } from '../core/agents/runs.js';
import { type Clock, HOUR_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';

export interface OutboxOptions<Item> {
  /** For the log: 'deliveries'. */
  readonly name: string;
  /** What is due now, earliest first; items under way may be among them. */
  readonly due: (limit: number) => Promise<readonly Item[]>;
  /** When the next item is due, in ms; null without one. */
  readonly nextDueAt: () => Promise<number | null>;
  readonly keyOf: (item: Item) => string;
  /** Makes one try and records it. A rejection is logged, and the item is due again a moment later. */
  readonly attempt: (item: Item, signal: AbortSignal) => Promise<void>;
  /** Tries at once. */
  readonly concurrency: number;
  readonly now: Clock;
  readonly log: Pick<Log, 'error'>;
}

export interface Outbox {
  /** Looks for what is due: call it when something was added, and at start. */
  wake(): void;
  /** Begins nothing more; tries under way may end within `graceMs`. What was not taken stays in the database. */
  stop(graceMs: number): Promise<void>;
}

/** How often something is tried, and the pause after the first failure in ms; three times as long after every further one. */
export interface RetryPlan {
  readonly maxTries: number;
  readonly backoffMs: number;
}

const PAUSE_FACTOR = 3;
const MAX_PAUSE_MS = HOUR_MS;
/** Pauses differ by up to this share, so that what failed together does not come back together. */
const SPREAD = 0.2;
/** After the database failed. */
const STORE_RETRY_MS = 1000;

/**
 * When the next try is due, in ms; null when there is none.
 * @param tries made so far
 * @param random in [0, 1), as Math.random
 */
export function nextTryAt(
  outcome: DeliveryOutcome,
  tries: number,
  plan: RetryPlan,
  now: number,
  random: () => number,
): number | null {
  if (outcome.ok || !outcome.again || tries >= plan.maxTries) return null;
  const pauseMs = Math.min(plan.backoffMs * PAUSE_FACTOR ** (tries - 1), MAX_PAUSE_MS);
  const spread = 1 + SPREAD * (2 * random() - 1);
  const askedMs = Math.min(outcome.afterMs ?? 0, MAX_PAUSE_MS);
  return Math.ceil(now + Math.max(pauseMs * spread, askedMs));
}

export function createOutbox<Item>(options: OutboxOptions<Item>): Outbox {
  const { name, keyOf, now, log } = options;
  const queue = new PQueue({ concurrency: options.concurrency });
  const stopped = new AbortController();
  const underWay = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let isAskedAgain = false;
  let isStopping = false;

  function wake(): void {
    if (isStopping) return;
    isAskedAgain = true;
    looking ??= look().finally(() => {
      looking = null;
    });
  }

  async function look(): Promise<void> {
    clearTimeout(timer);
    try {
      while (isAskedAgain && !isStopping) {
        isAskedAgain = false;
        await begin();
      }
      await sleepUntilDue();
    } catch (err) {
      log.error({ err }, `${name} could not be read`);
      timer = setTimeout(wake, STORE_RETRY_MS);
    }
  }

  /** Begins as many of the items that are due as there is room for. */
  async function begin(): Promise<void> {
    const room = options.concurrency - underWay.size;
    if (room <= 0) return;
    // Those under way are still due in the database.
    const due = await options.due(underWay.size + room);
    for (const item of due.filter((each) => !underWay.has(keyOf(each))).slice(0, room)) {
      const key = keyOf(item);
      underWay.add(key);
      void queue.add(async () => {
        await attempt(item, key);
        underWay.delete(key);
        wake();
      });
    }
  }

  /** Sets the timer for the next one. While any is under way its end will look again. */
  async function sleepUntilDue(): Promise<void> {
    if (underWay.size > 0 || isStopping) return;
    const at = await options.nextDueAt();
    if (at === null || isStopping) return;
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(Math.max(at - now(), 0), MAX_PAUSE_MS));
  }

  async function attempt(item: Item, key: string): Promise<void> {
    try {
      await options.attempt(item, stopped.signal);
    } catch (err) {
      // The try may have reached the receiver: it is made again, with the same id, which tells the receiver so.
      log.error({ err, key }, `${name}: a try could not be recorded`);
      await new Promise((resolve) => setTimeout(resolve, STORE_RETRY_MS));
    }
  }

  return {
    wake,
    async stop(graceMs) {
      isStopping = true;
      queue.clear();
      const cut = setTimeout(() => stopped.abort(), graceMs);
      await looking;
      clearTimeout(timer);
      await queue.onPendingZero();
      clearTimeout(cut);
    },
  };
}
