// Periodic maintenance of runs: renews the lease of this runner, adopts runs of dead runners, deletes old runs.
import type { RunNode } from '../core/agents/run-store.js';
import { HOUR_MS } from '../core/time/clock.js';
import { createPoller, nodeTimers, type Poller } from '../core/time/timers.js';
import { createTurns } from '../core/time/turns.js';
import type { AgentContext } from './context.js';
import { isAlive, killRunProcesses, processStart, thisHost } from './processes.js';
import type { Runner } from './runner.js';

/** Interval between searches for dead runners, and for runs without a node, such as runs from the command line. Only after writes. */
const ADOPT_EVERY_MS = 1000;
const RENEWALS_PER_LEASE = 3;
/** Number of attempts to release the runs at the end. Each attempt waits as long as the database may wait for a lock. */
const RELEASE_ATTEMPTS = 3;
const TRIM_EVERY_MS = HOUR_MS;
const MAX_PER_TRIM = 500;
/** Runs released or adopted in one transaction: each is written with its message, and other writes wait meanwhile. */
const MAX_AT_ONCE = 100;

/** @param deliverer is woken about once a second while the database is written to */
export function createKeeper(context: AgentContext, runner: Runner, deliverer: { wake(): void }) {
  const { runs: store, node, queueLimit, leaseMs, isShared, now, log } = context;
  const { maxAttempts } = context.webhooks;
  const host = thisHost();
  const monotonicNow = () => performance.now();
  const watch = createLeaseWatch(leaseMs, monotonicNow);
  const lease = createOwnLease(leaseMs, monotonicNow, lose);
  const interrupted = `interrupted ${maxAttempts} times`;
  let adopted = Promise.resolve();
  let reportAdopted = (): void => {};
  /** A daemon that is alone finds only those of the past. */
  let mayHaveOthers = true;
  let hasBegun = false;
  let isStopping = false;
  /** Time of the last failed write, while this runner must look for runs that it owns without knowing them; null: none. */
  let doubtedAt: number | null = null;
  /** After the lease was lost: resolves when this runner's runs have ended. */
  let ending: Promise<void> | null = null;

  /** Does nothing when no other daemon uses the database, because then no daemon can adopt the runs. */
  function lose(): void {
    if (ending || !isShared) return;
    log.warn({ leaseMs }, 'runner lease lost; interrupting runs');
    ending = runner.suspend();
  }

  async function renew(): Promise<void> {
    if (hasBegun && !lease.isHeld()) lose();
    const startedAt = monotonicNow();
    await writeLease();
    hasBegun = true;
    if (ending) {
      await ending;
      // Releases only runs that no other daemon has adopted meanwhile.
      await store.requeue(node, now());
      return regain();
    }
    lease.renewed(startedAt);
  }

  async function regain(): Promise<void> {
    const startedAt = monotonicNow();
    await writeLease();
    lease.renewed(startedAt);
    ending = null;
    log.info({}, 'runner lease regained');
    runner.resume();
  }

  const writeLease = () =>
    store.renewLease({
      id: node,
      host,
      pid: process.pid,
      pidStart: processStart(process.pid),
      seenAt: now(),
    });

  async function releaseDeadRunners(): Promise<void> {
    const others = (await store.runners()).filter(({ id }) => id !== node);
    const silent = watch.silent(others);
    // A process on this machine can be checked directly. A process on another machine is known only by its lease.
    const isDead = (runner: RunNode) =>
      runner.host === host ? !isAlive(runner.pid, runner.pidStart) : silent.includes(runner);
    for (const dead of others.filter(isDead)) await releaseRunsOf(dead);
    mayHaveOthers = isShared || others.length > 0;
  }

  async function releaseRunsOf(dead: RunNode): Promise<void> {
    const running = await store.runningOf(dead.id);
    // Processes that survived the crash would do the work twice.
    const isHere = dead.host === host;
    const killed = isHere ? killRunProcesses(new Set(running.map(({ id }) => id))) : 0;
    // The process is certainly dead, so it cannot claim runs that are released before it is removed itself.
    while (isHere && !isStopping && (await store.releaseQueued(dead.id, MAX_AT_ONCE)) === MAX_AT_ONCE);
    const failed = await store.release(dead.id, maxAttempts, interrupted, now(), dead.seenAt);
    if (running.length === 0 || failed === null) return;
    log.warn(
      { interrupted: running.length - failed.length, failed: failed.length, killed },
      'interrupted runs queued again',
    );
  }

  /** Releases runs that this runner owns without knowing them. Otherwise no daemon would execute them. */
  async function requeueStrays(): Promise<void> {
    if (doubtedAt === null) return;
    const since = doubtedAt;
    const held = await store.heldBy(node);
    const known = runner.known();
    const strays = held.filter((id) => !known.has(id));
    if (strays.length > 0) {
      await store.requeue(node, now(), strays);
      log.warn({ runs: strays.length }, 'runs with unknown write result queued again');
    }
    // A frozen server executes pending requests when it continues. After one lease, everything is released anyway.
    if (doubtedAt === since && monotonicNow() - since > leaseMs) doubtedAt = null;
  }

  async function adopt(): Promise<void> {
    for (let isMore = true; isMore && !isStopping; ) {
      // Adopts at least one run, even when the queue is full: runs in the queue may wait for exactly this run, the oldest.
      const limit = Math.min(MAX_AT_ONCE, Math.max(1, queueLimit.left()));
      const runs = await store.adopt(node, limit, context.otherNodesAgents);
      for (const run of runs) {
        queueLimit.acquire(run.agent);
        runner.enqueue(run);
      }
      isMore = runs.length === limit && queueLimit.left() > 0;
    }
  }

  async function trim(): Promise<void> {
    const before = now() - context.retentionMs();
    while (await store.trim(before, now(), MAX_PER_TRIM));
    await context.sessions.trim(before);
  }

  // One round at a time: concurrent rounds could adopt a run twice.
  const inTurn = createTurns();
  const every = (ms: number, what: string, work: () => Promise<void>): Poller => {
    const onError = (err: unknown): void => {
      // Time in which the database did not answer does not count against other runners.
      watch.forget();
      log.error({ err, task: what }, 'run maintenance failed');
    };
    return createPoller({ intervalMs: ms, poll: () => inTurn(node, work), onError, timers: nodeTimers });
  };
  const adopting = every(ADOPT_EVERY_MS, 'adopting runs', async () => {
    const wasWritten = context.wasWritten();
    if (wasWritten && mayHaveOthers) await releaseDeadRunners();
    if (ending) return;
    await requeueStrays();
    if (wasWritten) {
      await adopt();
      deliverer.wake();
    }
    reportAdopted();
    runner.retryBlocked();
    await runner.cancelRequested();
  });
  const trimming = every(TRIM_EVERY_MS, 'deleting old runs', trim);
  const pollers = [adopting, trimming];
  // A daemon that is alone is known by its process, not by its lease.
  if (isShared) pollers.push(every(leaseMs / RENEWALS_PER_LEASE, 'renewing the lease', renew));

  return {
    get adopted(): Promise<void> {
      return adopted;
    },
    isHeld: () => !isShared || (ending === null && lease.isHeld()),

    doubt(): void {
      doubtedAt = monotonicNow();
    },

    /** Registers this runner, and begins to adopt the runs of dead runners, again and again. */
    async start(): Promise<void> {
      await renew();
      for (const poller of pollers) poller.start();
      adopted = new Promise((resolve) => {
        reportAdopted = resolve;
      });
      // Not awaited: it writes each waiting run, and players must not wait for that.
      void adopting.poll();
      void trimming.poll();
    },

    /** Releases the runs of this runner. */
    async stop(): Promise<void> {
      isStopping = true;
      lease.stop();
      await Promise.all(pollers.map((poller) => poller.stop()));
      for (let attempt = 1; ; attempt += 1) {
        try {
          await store.release(node, maxAttempts, interrupted, now());
          return;
        } catch (error) {
          if (attempt === RELEASE_ATTEMPTS) throw error;
        }
      }
    },
  };
}

/** Time that a daemon needs to end its runs after it lost its lease, in ms: SIGTERM, five seconds, SIGKILL. */
const ENDING_MS = 6000;

/**
 * Detects dead daemons by their leases without comparing clocks: a daemon whose lease does not change for a while, by the clock of
 * this process, is dead. Time without a response from the database does not count.
 */
export function createLeaseWatch(leaseMs: number, monotonicNow: () => number) {
  let known = new Map<string, { readonly seenAt: number; readonly since: number }>();
  return {
    /** Processes the current leases of the other daemons. Returns those whose lease has expired. */
    silent(others: readonly RunNode[]): RunNode[] {
      const at = monotonicNow();
      known = new Map(
        others.map(({ id, seenAt }) => {
          const before = known.get(id);
          return [id, before?.seenAt === seenAt ? before : { seenAt, since: at }];
        }),
      );
      return others.filter(({ id }) => at - (known.get(id)?.since ?? at) > leaseMs + ENDING_MS);
    },
    /** Resets all times after the database did not answer. */
    forget: (): void => known.clear(),
  };
}

/** @param onLost called once each time that the lease was not renewed in time */
function createOwnLease(leaseMs: number, monotonicNow: () => number, onLost: () => void) {
  let renewedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Whether the lease of this daemon is valid. */
    isHeld: (): boolean => monotonicNow() - renewedAt < leaseMs,
    renewed(startedAt: number): void {
      renewedAt = startedAt;
      clearTimeout(timer);
      timer = setTimeout(onLost, startedAt + leaseMs - monotonicNow()).unref();
    },
    stop: (): void => clearTimeout(timer),
  };
}
