// Chooses the runs to execute: one at a time and in order per session, several sessions in parallel.
import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Claim } from '../core/agents/run-store.js';
import { isFinal, type QueuedRun, type Run, shouldDeliver } from '../core/agents/runs.js';
import { isDatabaseAway } from '../core/errors.js';
import { getOrAdd } from '../core/maps.js';
import { createBatches } from './batches.js';
import type { AgentContext, RunKeeper } from './context.js';
import { type Abort, createExecution } from './execution.js';

export type Runner = ReturnType<typeof createRunner>;

/** The waiting runs of one session, in the order of their ids. The store permits claims only in this order. */
interface SessionQueue {
  readonly waiting: QueuedRun[];
  /** Whether a turn of this queue waits in p-queue or is running. */
  hasTurn: boolean;
}

/** Maximum wait for another daemon to cancel a run, and the interval between checks, in ms. */
const CANCEL_WAIT_MS = 10_000;
const CANCEL_POLL_MS = 100;

/** @param deliverer is woken when the reply of a run is to be delivered */
export function createRunner(
  context: AgentContext,
  keeper: Pick<RunKeeper, 'isHeld' | 'doubt'>,
  deliverer: { wake(): void },
) {
  const { runs: store, node, queueLimit, log, now } = context;
  const claims = createBatches(
    async (ids: readonly string[]): Promise<Claim[]> =>
      keeper.isHeld() ? store.claim(ids, node, now()) : ids.map(() => ({ outcome: 'blocked' })),
  );
  const queue = new PQueue({ concurrency: context.webhooks.concurrency, autoStart: false });
  /** By session key; a run without a session has its own queue, by its id. */
  const sessionQueues = new Map<string, SessionQueue>();
  /** Runs that were still waiting here when this runner adopted them again, after a lost lease. */
  const adoptedAgain = new Set<string>();
  /** Runs in progress, by id. */
  const inProgress = new Map<
    string,
    { readonly controller: AbortController; readonly ended: Promise<unknown> }
  >();
  let isStopping = false;
  const execution = createExecution(context, finished, () => isStopping);

  function touch(agent: string): void {
    context.lastActive.set(agent, now());
  }

  function finished(agent: string, hasDelivery: boolean): void {
    touch(agent);
    if (hasDelivery) deliverer.wake();
  }

  const queueKeyOf = (run: QueuedRun) => run.session ?? run.id;

  /** Queues a stored run, which has a place in the queue limit. Within its session, runs are ordered by id. */
  function enqueue(run: QueuedRun): void {
    touch(run.agent);
    const key = queueKeyOf(run);
    const session = getOrAdd(sessionQueues, key, () => ({ waiting: [], hasTurn: false }));
    if (!insertInOrder(session.waiting, run)) {
      queueLimit.release(run.agent);
      adoptedAgain.add(run.id);
    }
    schedule(key, session);
  }

  /** Queues a turn of the session, in which its first run is executed. A session has at most one turn at a time. */
  function schedule(key: string, session: SessionQueue): void {
    if (isStopping || session.hasTurn) return;
    if (session.waiting.length === 0) {
      sessionQueues.delete(key);
      return;
    }
    session.hasTurn = true;
    void queue.add(async () => {
      const isDone = await executeFirst(session);
      session.hasTurn = false;
      if (isDone) schedule(key, session);
    });
  }

  /** Executes the first run of a session. Returns false to leave the session unchanged until `retryBlocked`. */
  async function executeFirst(session: SessionQueue): Promise<boolean> {
    const [queued] = session.waiting;
    if (!queued || isStopping) return !isStopping;
    const controller = new AbortController();
    const attempt = claimAndExecute(session, queued, controller);
    inProgress.set(queued.id, { controller, ended: attempt });
    try {
      return await attempt;
    } finally {
      inProgress.delete(queued.id);
    }
  }

  /** Returns false as `executeFirst`. */
  async function claimAndExecute(
    session: SessionQueue,
    queued: QueuedRun,
    controller: AbortController,
  ): Promise<boolean> {
    try {
      const claim = await claims.add(queued.id);
      if (claim.outcome === 'blocked') return false;
      // This runner adopted the run again after the claim had read it. The run belongs to this runner now, so claim it once more.
      if (adoptedAgain.delete(queued.id) && claim.outcome === 'gone') return true;
      remove(session, queued);
      // An earlier claim of this runner may have taken effect although its answer was lost.
      if (claim.outcome === 'gone') keeper.doubt();
      if (claim.outcome === 'claimed') await execution.execute(claim.run, claim.history, controller);
      return true;
    } catch (err) {
      log.error({ err, run: queued.id }, 'starting run failed');
      if (isDatabaseAway(err)) keeper.doubt();
      return false;
    }
  }

  function remove(session: SessionQueue, run: QueuedRun): void {
    const at = session.waiting.indexOf(run);
    if (at < 0) return;
    session.waiting.splice(at, 1);
    queueLimit.release(run.agent);
  }

  /** Returns the run after the daemon that executes it has cancelled it, or after `CANCEL_WAIT_MS`. */
  async function cancelElsewhere(id: string): Promise<Run | null> {
    const isRequested = await store.requestCancel(id, now());
    const until = performance.now() + (isRequested ? CANCEL_WAIT_MS : 0);
    for (;;) {
      const run = await store.get(id);
      if (!run || isFinal(run.status) || performance.now() >= until) return run;
      await pause(CANCEL_POLL_MS);
    }
  }

  /** Interrupts all runs now. */
  function interrupt(): void {
    for (const { controller } of inProgress.values()) controller.abort('shutdown' satisfies Abort);
  }

  return {
    start: (): void => void queue.start(),
    /** Ids of the runs that wait in this runner or are in progress. */
    known: (): ReadonlySet<string> =>
      new Set([
        ...inProgress.keys(),
        ...[...sessionQueues.values()].flatMap(({ waiting }) => waiting.map(({ id }) => id)),
      ]),
    enqueue,
    interrupt,

    /** Retries sessions that waited for a run of another daemon. */
    retryBlocked(): void {
      for (const [key, session] of sessionQueues) schedule(key, session);
    },

    /**
     * Cancels a run, and resolves when its processes have ended. `elsewhere`: another daemon executes it and has not cancelled it in
     * time.
     */
    async cancel(id: string): Promise<'cancelled' | 'finished' | 'not-found' | 'elsewhere'> {
      const run = await store.get(id);
      if (!run) return 'not-found';
      const hasChannel = Boolean(context.byName.get(run.agent)?.schedule);
      const deliver = shouldDeliver(run.kind, { status: 'cancelled', reply: null }, hasChannel);
      if (await store.cancelQueued(id, now(), deliver)) {
        const session = sessionQueues.get(queueKeyOf(run));
        const waiting = session?.waiting.find((queued) => queued.id === id);
        if (session && waiting) remove(session, waiting);
        log.info({ run: id, agent: run.agent, session: run.session, status: 'cancelled' }, 'run finished');
        finished(run.agent, deliver);
        return 'cancelled';
      }
      const here = inProgress.get(id);
      here?.controller.abort('cancelled' satisfies Abort);
      await here?.ended;
      const after = here ? await store.get(id) : await cancelElsewhere(id);
      if (!after) return 'not-found';
      if (after.status === 'cancelled' && !isFinal(run.status)) return 'cancelled';
      return isFinal(after.status) ? 'finished' : 'elsewhere';
    },

    async cancelRequested(): Promise<void> {
      if (inProgress.size === 0) return;
      for (const id of await store.cancelRequests(node)) {
        inProgress.get(id)?.controller.abort('cancelled' satisfies Abort);
      }
    },

    /** Interrupts all runs and starts none until `resume`. Resolves when they have ended and nothing more of them will be written. */
    async suspend(): Promise<void> {
      queue.pause();
      interrupt();
      await queue.onPendingZero();
    },

    resume(): void {
      if (!isStopping) queue.start();
    },

    /** Number of runs of an agent that this daemon is executing. */
    running: execution.running,

    /**
     * Starts no more runs. Runs in progress may finish within `graceMs`, then they are interrupted. Resolves when they have ended.
     * Interrupted runs are still `running` in the store.
     */
    async stop(graceMs: number): Promise<void> {
      isStopping = true;
      queue.clear();
      const idle = queue.onPendingZero();
      const timer = setTimeout(interrupt, graceMs);
      await idle;
      clearTimeout(timer);
    },
  };
}

/**
 * Inserts a run by its id: a run of another process (the command line) may arrive later than runs that were stored after it.
 * Returns false when the run is in the list already: a lost lease released it, and this runner adopted it again.
 */
function insertInOrder(waiting: QueuedRun[], run: QueuedRun): boolean {
  const at = waiting.findLastIndex(({ id }) => id < run.id) + 1;
  if (waiting[at]?.id === run.id) return false;
  waiting.splice(at, 0, run);
  return true;
}
