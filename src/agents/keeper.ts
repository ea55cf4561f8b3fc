// Periodic maintenance of runs: renews the lease of this runner, adopts runs of dead runners, deletes old runs.

import type { AgentSessionStore } from '../core/agents/agent-session-store.js';
import type { Runner, RunStore } from '../core/agents/run-store.js';
import type { QueuedRun } from '../core/agents/runs.js';
import { type Clock, HOUR_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createPoller, type Poller } from '../core/poller.js';
import { createTurns } from '../core/turns.js';
import { createLeaseWatch, createOwnLease } from './lease.js';
import { isAlive, killMarked, processStart, thisHost } from './processes.js';
import type { QueueLimit } from './queue-limit.js';

export interface Keeper {
  /** Registers this runner, adopts the runs of dead runners, and repeats this periodically. */
  start(): Promise<void>;
  /** Whether this runner holds its lease, so that no other daemon may have adopted its runs. */
  isHeld(): boolean;
  /** A write of a run failed, and may have been done all the same: runs may be this runner's without its knowledge. */
  doubt(): void;
  /** Releases the runs of this runner. */
  stop(): Promise<void>;
}

/** How often to look for runs without an owner, such as runs from the command line. */
const ADOPT_EVERY_MS = 1000;
/** Number of renewals within the lease time. */
const RENEWALS_PER_LEASE = 3;
/** At the end the database gets so many chances; each waits for as long as a lock may be waited for. */
const RELEASE_ATTEMPTS = 3;
const CLEAR_EVERY_MS = HOUR_MS;
const CLEAR_AT_ONCE = 500;

export function createKeeper(uses: {
  readonly store: RunStore;
  readonly sessions: Pick<AgentSessionStore, 'trim'>;
  readonly owner: string;
  readonly queueLimit: QueueLimit;
  readonly maxAttempts: number;
  /** How long this runner may be silent before others take its runs over, in ms. */
  readonly leaseMs: number;
  /** Whether other daemons work on the same database. */
  readonly isShared: boolean;
  /** Agents whose runs other nodes have to run. */
  readonly notHere: readonly string[];
  /** How long finished runs are kept; an operator may change it meanwhile. */
  readonly retentionMs: () => number;
  readonly now: Clock;
  readonly log: Log;
  /** Ids of the runs that this runner has in its queue, or under way. */
  readonly known: () => ReadonlySet<string>;
  /** Called for every run taken over, whose place in the queue is taken; oldest first. */
  readonly onAdopted: (run: QueuedRun) => void;
  /** The lease is lost: others may run what this runner has under way. Resolves when none of it runs here any more. */
  readonly onLost: () => Promise<void>;
  /** It is held again. */
  readonly onRegained: () => void;
  /** Called about once a second. */
  readonly onTick: () => Promise<void>;
}): Keeper {
  const { store, owner, now, log, leaseMs } = uses;
  const host = thisHost();
  const monotonicNow = () => performance.now();
  const watch = createLeaseWatch(leaseMs, monotonicNow);
  const lease = createOwnLease(leaseMs, monotonicNow, lose);
  const interrupted = `interrupted ${uses.maxAttempts} times`;
  let hasBegun = false;
  /** When a write failed last, while its runs may be looked for. */
  let doubtedAt: number | null = null;
  /** Since the lease was lost: the end of what ran here. */
  let ending: Promise<void> | null = null;

  /** Nobody else is there to take anything over where the database is this daemon's alone. */
  function lose(): void {
    if (ending || !uses.isShared) return;
    log.warn({ leaseMs }, 'runner lease lost; interrupting runs');
    ending = uses.onLost();
  }

  async function renew(): Promise<void> {
    if (hasBegun && !lease.isHeld()) lose();
    const startedAt = monotonicNow();
    await seen();
    hasBegun = true;
    if (ending) {
      await ending;
      // Only what nobody took meanwhile.
      await store.giveBack(owner, now());
      return regain();
    }
    lease.renewed(startedAt);
  }

  async function regain(): Promise<void> {
    const startedAt = monotonicNow();
    await seen();
    lease.renewed(startedAt);
    ending = null;
    log.info({}, 'runner lease regained');
    uses.onRegained();
  }

  const seen = () =>
    store.seen({ id: owner, host, pid: process.pid, pidStart: processStart(process.pid), seenAt: now() });

  async function takeOverFromDead(): Promise<void> {
    const others = (await store.runners()).filter(({ id }) => id !== owner);
    const silent = watch.silent(others);
    // On this machine a process is there or not; of another only its lease tells.
    const isDead = (runner: Runner) =>
      runner.host === host ? !isAlive(runner.pid, runner.pidStart) : silent.includes(runner);
    for (const dead of others.filter(isDead)) await takeOver(dead);
  }

  async function takeOver(dead: Runner): Promise<void> {
    const running = await store.runningOf(dead.id);
    // Processes that survived the crash would do the work twice.
    const killed = dead.host === host ? killMarked(new Set(running.map(({ id }) => id))) : 0;
    const failed = await store.release(dead.id, uses.maxAttempts, interrupted, now(), dead.seenAt);
    if (running.length === 0 || failed === null) return;
    log.warn(
      { interrupted: running.length - failed.length, failed: failed.length, killed },
      'interrupted runs queued again',
    );
  }

  /** A run that is this runner's without its knowledge would never be run. */
  async function giveBackStrays(): Promise<void> {
    if (doubtedAt === null) return;
    const since = doubtedAt;
    const held = await store.heldBy(owner);
    const known = uses.known();
    const strays = held.filter((id) => !known.has(id));
    if (strays.length > 0) {
      await store.giveBack(owner, now(), strays);
      log.warn({ runs: strays.length }, 'runs whose storing was not answered are queued again');
    }
    // A frozen server does what it was asked for when it goes on. After a lease everything is given back anyway.
    if (doubtedAt === since && monotonicNow() - since > leaseMs) doubtedAt = null;
  }

  async function adopt(): Promise<void> {
    // One even when the queue is full: what waits in it may have to wait for this very run, the oldest.
    for (const run of await store.adopt(owner, Math.max(1, uses.queueLimit.left()), uses.notHere)) {
      uses.queueLimit.acquire(run.agent);
      uses.onAdopted(run);
    }
  }

  async function clearOut(): Promise<void> {
    const before = now() - uses.retentionMs();
    while (await store.trim(before, now(), CLEAR_AT_ONCE));
    await uses.sessions.trim(before);
  }

  // One round at a time: concurrent rounds could adopt a run twice.
  const inTurn = createTurns();
  const every = (ms: number, what: string, work: () => Promise<void>): Poller => {
    const onError = (err: unknown) => log.error({ err, task: what }, 'run maintenance failed');
    return createPoller(ms, () => inTurn(owner, work), onError);
  };
  const clearing = every(CLEAR_EVERY_MS, 'clearing out', clearOut);
  const pollers = [
    every(leaseMs / RENEWALS_PER_LEASE, 'keeping the lease', async () => {
      try {
        await renew();
        await takeOverFromDead();
      } catch (error) {
        watch.forget();
        throw error;
      }
    }),
    every(ADOPT_EVERY_MS, 'looking for waiting runs', async () => {
      if (ending) return;
      await giveBackStrays();
      await adopt();
      await uses.onTick();
    }),
    clearing,
  ];

  return {
    isHeld: () => !uses.isShared || (ending === null && lease.isHeld()),

    doubt() {
      doubtedAt = monotonicNow();
    },

    async start() {
      await renew();
      await takeOverFromDead();
      await adopt();
      for (const poller of pollers) poller.start();
      void clearing.ask();
    },

    async stop() {
      lease.stop();
      await Promise.all(pollers.map((poller) => poller.stop()));
      for (let attempt = 1; ; attempt += 1) {
        try {
          await store.release(owner, uses.maxAttempts, interrupted, now());
          return;
        } catch (error) {
          if (attempt === RELEASE_ATTEMPTS) throw error;
        }
      }
    },
  };
}
