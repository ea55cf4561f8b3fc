// Delivering replies: each to its agent's channel, again with growing pauses until it is taken, every try kept.
import PQueue from 'p-queue';
import type { DeliveryStore } from '../core/agents/delivery-store.js';
import { type Channel, type DeliveryOutcome, deliveredReply, type Run } from '../core/agents/runs.js';
import { type Clock, HOUR_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';

/** A channel and how often it is tried. */
export interface DeliveryPlan {
  readonly channel: Channel;
  readonly maxTries: number;
  /** Pause after the first failure in milliseconds; three times as long after every further one. */
  readonly backoffMs: number;
}

export interface Deliverer {
  /** Looks for what is due: call it when a run has finished, and at start. */
  wake(): void;
  /** Begins nothing more; tries under way may end within `graceMs`. What is not delivered stays pending in the store. */
  stop(graceMs: number): Promise<void>;
}

const PAUSE_FACTOR = 3;
const MAX_PAUSE_MS = HOUR_MS;
/** Pauses differ by up to this share, so that replies that failed together do not come back together. */
const SPREAD = 0.2;
/** After the database failed. */
const STORE_RETRY_MS = 1000;

export function createDeliverer(uses: {
  readonly store: DeliveryStore;
  readonly owner: string;
  /** By agent. */
  readonly plans: ReadonlyMap<string, DeliveryPlan>;
  readonly concurrency: number;
  readonly now: Clock;
  /** In [0, 1), as Math.random. */
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}): Deliverer {
  const { store, owner, now, log } = uses;
  const queue = new PQueue({ concurrency: uses.concurrency });
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
      log.error({ err }, 'deliveries could not be read');
      timer = setTimeout(wake, STORE_RETRY_MS);
    }
  }

  /** Begins as many of the deliveries that are due as there is room for. */
  async function begin(): Promise<void> {
    const room = uses.concurrency - underWay.size;
    if (room <= 0) return;
    // Those under way are still due in the store.
    const due = await store.due(owner, now(), underWay.size + room);
    for (const run of due.filter(({ id }) => !underWay.has(id)).slice(0, room)) {
      underWay.add(run.id);
      void queue.add(async () => {
        await attempt(run);
        underWay.delete(run.id);
        wake();
      });
    }
  }

  /** Sets the timer for the next one. While any is under way its end will look again. */
  async function sleepUntilDue(): Promise<void> {
    if (underWay.size > 0 || isStopping) return;
    const at = await store.nextDueAt(owner);
    if (at === null || isStopping) return;
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(Math.max(at - now(), 0), MAX_PAUSE_MS));
  }

  async function attempt(run: Run): Promise<void> {
    const startedAt = now();
    const plan = uses.plans.get(run.agent);
    try {
      // The agent or its channel has gone from the configuration since.
      if (!plan) return await store.dismiss(run.id);
      const outcome = await deliver(run, plan);
      // Cut short by the shutdown: not a try, and due again at the next start.
      if (!outcome.ok && stopped.signal.aborted) return;
      const tries = run.deliveryTries + 1;
      const nextAt = nextTry(outcome, tries, plan);
      await store.record(
        {
          id: uses.newId(),
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
    } catch (err) {
      // The try may have reached its channel: it is made again, and the run's id tells the receiver so.
      log.error({ err, run: run.id }, 'a delivery could not be kept');
      await new Promise((resolve) => setTimeout(resolve, STORE_RETRY_MS));
    }
  }

  async function deliver(run: Run, plan: DeliveryPlan): Promise<DeliveryOutcome> {
    const reply = deliveredReply(run);
    if (!reply) return { ok: false, detail: `the run is ${run.status}`, again: false };
    try {
      return await plan.channel.deliver(reply, stopped.signal);
    } catch (err) {
      log.error({ err, run: run.id }, 'a channel failed in an unexpected way');
      return { ok: false, detail: err instanceof Error ? err.message : String(err), again: true };
    }
  }

  function nextTry(outcome: DeliveryOutcome, tries: number, plan: DeliveryPlan): number | null {
    if (outcome.ok || !outcome.again || tries >= plan.maxTries) return null;
    const pauseMs = Math.min(plan.backoffMs * PAUSE_FACTOR ** (tries - 1), MAX_PAUSE_MS);
    const spread = 1 + SPREAD * (2 * uses.random() - 1);
    const askedMs = Math.min(outcome.afterMs ?? 0, MAX_PAUSE_MS);
    return Math.ceil(now() + Math.max(pauseMs * spread, askedMs));
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
