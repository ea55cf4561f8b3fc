// Executes runs: one at a time and in order per session, several sessions in parallel.
import PQueue from 'p-queue';
import type { Claim, EndedRun, HistoryLimits, RunEnd, RunStore } from '../core/agents/run-store.js';
import {
  type Agent,
  type AgentOutput,
  isFinal,
  isWorthDelivering,
  type QueuedRun,
  type Run,
} from '../core/agents/runs.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createBatches } from './batches.js';
import type { QueueLimit } from './queue-limit.js';

/** An agent as the runner needs it. */
export interface RunnableAgent {
  readonly agent: Agent;
  /** Longest a run may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether it has a channel for its replies. */
  readonly hasChannel: boolean;
}

export interface Runner {
  /** Starts executing queued runs. */
  start(): void;
  /** Queues a stored run, whose slot is acquired, behind the runs of its session with smaller ids. */
  enqueue(run: QueuedRun): void;
  /** Retries sessions that waited for a run of another daemon. */
  retryBlocked(): void;
  /** Cancels a run, and resolves when its processes have ended. `elsewhere`: another daemon is running it. */
  cancel(id: string): Promise<'cancelled' | 'finished' | 'not-found' | 'elsewhere'>;
  /** Number of runs of an agent that this daemon is executing. */
  running(agent: string): number;
  /**
   * Starts nothing more; runs under way may finish within `graceMs`, then they are interrupted. Resolves when they
   * have ended; interrupted ones are still `running` in the store.
   */
  stop(graceMs: number): Promise<void>;
  /** Interrupts all runs now. */
  interrupt(): void;
  /** Interrupts all runs and starts none until `resume`. Resolves when they have ended and nothing of them is to be written. */
  suspend(): Promise<void>;
  resume(): void;
  /** Cancels those of its runs under way that other daemons were asked to cancel. */
  cancelRequested(): Promise<void>;
}

export interface RunnerUses {
  readonly store: Pick<
    RunStore,
    'get' | 'claim' | 'finish' | 'cancelQueued' | 'requestCancel' | 'cancelRequests'
  >;
  readonly owner: string;
  /** Whether no other daemon may have taken over what this one holds. */
  readonly isLeaseHeld: () => boolean;
  readonly queueLimit: QueueLimit;
  readonly agents: ReadonlyMap<string, RunnableAgent>;
  readonly concurrency: number;
  readonly history: HistoryLimits;
  readonly now: Clock;
  readonly log: Log;
  /** Called when a run has ended and is stored so. */
  readonly onFinished: (agent: string, hasDelivery: boolean) => void;
}

/** The runs of one session that wait, in the order of their ids: the order in which the store lets them be claimed. */
interface Line {
  readonly waiting: QueuedRun[];
  isTaken: boolean;
}

type Abort = 'timeout' | 'cancelled' | 'shutdown';

/** Pause before a failed write is retried: the result of a run must not get lost. */
const WRITE_RETRY_MS = 1000;
/** Longest that is waited for another daemon to cancel a run, and how often is looked. */
const CANCEL_WAIT_MS = 10_000;
const CANCEL_LOOK_MS = 100;

export function createRunner(uses: RunnerUses): Runner {
  const { store, owner, queueLimit, log, now } = uses;
  const claims = createBatches(
    async (ids: readonly string[]): Promise<Claim[]> =>
      uses.isLeaseHeld() ? store.claim(ids, owner, now()) : ids.map(() => ({ outcome: 'blocked' })),
  );
  const ends = createBatches((items: readonly EndedRun[]) => store.finish(items, owner, uses.history));
  const queue = new PQueue({ concurrency: uses.concurrency, autoStart: false });
  const lines = new Map<string, Line>();
  const underWay = new Map<
    string,
    { readonly controller: AbortController; readonly ended: Promise<unknown> }
  >();
  const runningByAgent = new Map<string, number>();
  let isStopping = false;

  const lineOf = (run: QueuedRun) => run.session ?? run.id;

  function enqueue(run: QueuedRun): void {
    const key = lineOf(run);
    const line = lines.get(key) ?? { waiting: [], isTaken: false };
    lines.set(key, line);
    if (!insertInOrder(line.waiting, run)) queueLimit.release(run.agent);
    call(key, line);
  }

  /** Lets the first run of a line wait for its turn among the lines; a line has one turn at a time. */
  function call(key: string, line: Line): void {
    if (isStopping || line.isTaken) return;
    if (line.waiting.length === 0) {
      lines.delete(key);
      return;
    }
    line.isTaken = true;
    void queue.add(async () => {
      const isDone = await turn(line);
      line.isTaken = false;
      if (isDone) call(key, line);
    });
  }

  /** Runs the first run of the line. False leaves the line as it is, until `retryBlocked`. */
  async function turn(line: Line): Promise<boolean> {
    const [queued] = line.waiting;
    if (!queued || isStopping) return !isStopping;
    const controller = new AbortController();
    const attempt = start(line, queued, controller);
    underWay.set(queued.id, { controller, ended: attempt });
    try {
      return await attempt;
    } finally {
      underWay.delete(queued.id);
    }
  }

  async function start(line: Line, queued: QueuedRun, controller: AbortController): Promise<boolean> {
    try {
      const claim = await claims.add(queued.id);
      if (claim.outcome === 'blocked') return false;
      remove(line, queued);
      if (claim.outcome === 'claimed') await perform(claim.run, claim.history, controller);
      return true;
    } catch (err) {
      log.error({ err, run: queued.id }, 'starting a run failed');
      return false;
    }
  }

  function remove(line: Line, run: QueuedRun): void {
    const at = line.waiting.indexOf(run);
    if (at < 0) return;
    line.waiting.splice(at, 1);
    queueLimit.release(run.agent);
  }

  async function perform(
    run: Run,
    history: Parameters<Agent['run']>[0]['history'],
    controller: AbortController,
  ): Promise<void> {
    log.debug({ run: run.id, agent: run.agent, message: run.message }, 'run started');
    count(run.agent, 1);
    try {
      const output = await ask(run, history, controller);
      const why = controller.signal.aborted ? (controller.signal.reason as Abort) : null;
      // Interrupted: it stays `running` here and is tried again by whoever takes over.
      if (why === 'shutdown') return;
      await finish(run, endOf(output, why, uses.agents.get(run.agent), now()));
    } finally {
      count(run.agent, -1);
    }
  }

  async function ask(
    run: Run,
    history: Parameters<Agent['run']>[0]['history'],
    controller: AbortController,
  ): Promise<AgentOutput> {
    const target = uses.agents.get(run.agent);
    if (!target) return { ok: false, error: `the agent ${run.agent} is no longer configured` };
    const { id: runId, kind, agent, session, message, attempt } = run;
    const timer = setTimeout(() => controller.abort('timeout' satisfies Abort), target.timeoutMs);
    try {
      return await target.agent.run(
        { kind, runId, agent, session, message, history, attempt },
        controller.signal,
      );
    } catch (err) {
      log.error({ err, run: runId, agent }, 'agent threw an exception');
      return { ok: false, error: err instanceof Error ? err.message : String(err) };
    } finally {
      clearTimeout(timer);
    }
  }

  async function finish(run: Run, wanted: RunEnd): Promise<void> {
    const end = {
      ...wanted,
      deliver: wanted.deliver && isWorthDelivering(run.kind, wanted.status, wanted.reply),
    };
    if (!(await stored(run, end))) return;
    log.info(
      {
        run: run.id,
        kind: run.kind,
        agent: run.agent,
        session: run.session,
        status: end.status,
        attempt: run.attempt,
        waitedMs: (run.startedAt ?? end.finishedAt) - run.acceptedAt,
        tookMs: end.finishedAt - (run.startedAt ?? end.finishedAt),
        ...(end.error === null ? {} : { error: withoutQuotation(end.error) }),
      },
      'run finished',
    );
    if (end.error !== null) log.debug({ run: run.id, agent: run.agent, error: end.error }, 'run failed');
    uses.onFinished(run.agent, end.deliver);
  }

  /** Writes the end of a run, again and again while the database fails. False when the run is not ours any more. */
  async function stored(run: Run, end: RunEnd): Promise<boolean> {
    for (;;) {
      try {
        return await ends.add({ id: run.id, end });
      } catch (err) {
        log.error({ err, run: run.id }, 'storing the end of a run failed');
        if (isStopping) return false;
        await new Promise((resolve) => setTimeout(resolve, WRITE_RETRY_MS));
      }
    }
  }

  function count(agent: string, step: 1 | -1): void {
    runningByAgent.set(agent, (runningByAgent.get(agent) ?? 0) + step);
  }

  /** Returns the run as it is when the daemon that has it under way has cancelled it, or takes too long. */
  async function cancelElsewhere(id: string): Promise<Run | null> {
    const isAsked = await store.requestCancel(id, now());
    const until = performance.now() + (isAsked ? CANCEL_WAIT_MS : 0);
    for (;;) {
      const run = await store.get(id);
      if (!run || isFinal(run.status) || performance.now() >= until) return run;
      await new Promise((resolve) => setTimeout(resolve, CANCEL_LOOK_MS));
    }
  }

  function interrupt(): void {
    for (const { controller } of underWay.values()) controller.abort('shutdown' satisfies Abort);
  }

  return {
    start: () => void queue.start(),
    enqueue,
    interrupt,

    retryBlocked() {
      for (const [key, line] of lines) call(key, line);
    },

    async cancel(id) {
      const run = await store.get(id);
      if (!run) return 'not-found';
      const deliver =
        (uses.agents.get(run.agent)?.hasChannel ?? false) && isWorthDelivering(run.kind, 'cancelled', null);
      if (await store.cancelQueued(id, now(), deliver)) {
        const line = lines.get(lineOf(run));
        const waiting = line?.waiting.find((queued) => queued.id === id);
        if (line && waiting) remove(line, waiting);
        log.info({ run: id, agent: run.agent, session: run.session, status: 'cancelled' }, 'run finished');
        uses.onFinished(run.agent, deliver);
        return 'cancelled';
      }
      const here = underWay.get(id);
      here?.controller.abort('cancelled' satisfies Abort);
      await here?.ended;
      const after = here ? await store.get(id) : await cancelElsewhere(id);
      if (!after) return 'not-found';
      if (after.status === 'cancelled' && !isFinal(run.status)) return 'cancelled';
      return isFinal(after.status) ? 'finished' : 'elsewhere';
    },

    async cancelRequested() {
      if (underWay.size === 0) return;
      for (const id of await store.cancelRequests(owner)) {
        underWay.get(id)?.controller.abort('cancelled' satisfies Abort);
      }
    },

    async suspend() {
      queue.pause();
      interrupt();
      await queue.onPendingZero();
    },

    resume() {
      if (!isStopping) queue.start();
    },

    running: (agent) => runningByAgent.get(agent) ?? 0,

    async stop(graceMs) {
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
 * A run of another process (the command line) comes here later than runs that were stored after it. False: it is there already,
 * because it was given up with a lost lease, and taken over again.
 */
function insertInOrder(waiting: QueuedRun[], run: QueuedRun): boolean {
  const at = waiting.findLastIndex(({ id }) => id < run.id) + 1;
  if (waiting[at]?.id === run.id) return false;
  waiting.splice(at, 0, run);
  return true;
}

/** How a run ended, by what its agent answered and whether it was cut short. */
function endOf(
  output: AgentOutput,
  why: Abort | null,
  target: RunnableAgent | undefined,
  finishedAt: number,
): RunEnd {
  const common = { finishedAt, deliver: target?.hasChannel ?? false, reply: null };
  // First, because a program may print something and exit with 0 after SIGTERM.
  if (why === 'timeout')
    return { ...common, status: 'timeout', error: `no reply within ${target?.timeoutMs} ms` };
  if (why === 'cancelled') return { ...common, status: 'cancelled', error: null };
  if (output.ok) return { ...common, status: 'succeeded', reply: output.reply, error: null };
  return { ...common, status: 'failed', error: output.error };
}

/** The text behind the colon comes from an agent or server and may quote the message: it is for the debug level only. */
function withoutQuotation(error: string): string {
  return error.split(':', 1)[0] ?? '';
}
