// What happens at intervals: saying that this runner lives, taking over from runners that do not, and clearing out.

import type { AgentSessionStore } from '../core/agents/agent-session-store.js';
import type { Runner, RunStore } from '../core/agents/run-store.js';
import type { QueuedRun } from '../core/agents/runs.js';
import { type Clock, HOUR_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createPoller, type Poller } from '../core/poller.js';
import { createTurns } from '../core/turns.js';
import { isAlive, killMarked, processStart, thisHost } from './processes.js';
import type { QueueLimit } from './queue-limit.js';

export interface Keeper {
  /** Registers this runner, takes over what dead ones held, and goes on doing so. */
  start(): Promise<void>;
  /** Gives up everything this runner holds, for the next to take. */
  stop(): Promise<void>;
}

/** How often runs that nobody holds are looked for (the command line leaves its runs so). */
const ADOPT_EVERY_MS = 1000;
/** How often a runner says that it lives; after `LEASE_MS` of silence its runs may be taken. */
const SEEN_EVERY_MS = 5000;
const LEASE_MS = 30_000;
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
  /** How long finished runs are kept; an operator may change it meanwhile. */
  readonly retentionMs: () => number;
  readonly now: Clock;
  readonly log: Log;
  /** Called for every run taken over, whose place in the queue is taken; oldest first. */
  readonly onAdopted: (run: QueuedRun) => void;
  /** Called about once a second. */
  readonly onTick: () => void;
}): Keeper {
  const { store, owner, now, log } = uses;
  const host = thisHost();

  const seen = () =>
    store.seen({ id: owner, host, pid: process.pid, pidStart: processStart(process.pid), seenAt: now() });

  async function takeOverFromDead(): Promise<void> {
    const others = (await store.runners()).filter(({ id }) => id !== owner);
    for (const dead of others.filter((runner) => isDead(runner, host, now()))) await takeOver(dead);
  }

  async function takeOver(dead: Runner): Promise<void> {
    const interrupted = await store.runningOf(dead.id);
    // What the crash left running would do the work a second time.
    const killed = dead.host === host ? killMarked(new Set(interrupted.map(({ id }) => id))) : 0;
    const error = `interrupted ${uses.maxAttempts} times`;
    const failed = await store.release(dead.id, uses.maxAttempts, error, now());
    if (interrupted.length === 0) return;
    log.warn(
      { interrupted: interrupted.length - failed.length, failed: failed.length, killed },
      'interrupted runs queued again',
    );
  }

  async function adopt(): Promise<void> {
    // One even when the queue is full: what waits in it may have to wait for this very run, the oldest.
    for (const run of await store.adopt(owner, Math.max(1, uses.queueLimit.left()))) {
      uses.queueLimit.acquire(run.agent);
      uses.onAdopted(run);
    }
  }

  async function clearOut(): Promise<void> {
    const before = now() - uses.retentionMs();
    while (await store.trim(before, now(), CLEAR_AT_ONCE));
    await uses.sessions.trim(before);
  }

  // One thing at a time: rounds that took over at once would take a run twice.
  const inTurn = createTurns();
  const every = (ms: number, what: string, work: () => Promise<void>): Poller => {
    const onError = (err: unknown) => log.error({ err, task: what }, 'run maintenance failed');
    return createPoller(ms, () => inTurn(owner, work), onError);
  };
  const clearing = every(CLEAR_EVERY_MS, 'clearing out', clearOut);
  const pollers = [
    every(SEEN_EVERY_MS, 'keeping the lease', async () => {
      await seen();
      await takeOverFromDead();
    }),
    every(ADOPT_EVERY_MS, 'looking for waiting runs', async () => {
      await adopt();
      uses.onTick();
    }),
    clearing,
  ];

  return {
    async start() {
      await seen();
      await takeOverFromDead();
      await adopt();
      for (const poller of pollers) poller.start();
      void clearing.ask();
    },

    async stop() {
      await Promise.all(pollers.map((poller) => poller.stop()));
      for (let attempt = 1; ; attempt += 1) {
        try {
          await store.release(owner, uses.maxAttempts, `interrupted ${uses.maxAttempts} times`, now());
          return;
        } catch (error) {
          if (attempt === RELEASE_ATTEMPTS) throw error;
        }
      }
    },
  };
}

/** On this machine a process is there or not; of another only its lease tells. */
function isDead(runner: Runner, host: string, now: number): boolean {
  if (runner.host === host) return !isAlive(runner.pid, runner.pidStart);
  return now - runner.seenAt > LEASE_MS;
}
