// The lifecycle of the daemon: parts start in the order of their dependencies, and stop in reverse order.
import type { Log } from '../core/log.js';
import { createPoller, nodeTimers, type Poller, within } from '../core/time/timers.js';

export interface Part {
  /** For the log. */
  readonly name: string;
  /** Rejects on failure; `stop` is called nevertheless. */
  start?(): void | Promise<void>;
  /** Writes what waits for the database, before any part hands over: sessions go on meanwhile, and wait for less afterwards. */
  flush?(): Promise<void>;
  /** Finishes work in progress before any part stops, within `grace`. */
  drain?(grace: Grace): void | Promise<void>;
  /** Rejects when it did not stop cleanly or could not write pending data. */
  stop?(): void | Promise<void>;
  /** Stops it for a successor, which takes what it gives. Default: `stop`. */
  handOver?(): void | Promise<void>;
}

export interface Grace {
  /** Time limit for work in progress, in ms. */
  readonly ms: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
}

/** How long a command of an agent may take to exit after the grace period, in ms. */
const COMMAND_END_MS = 5_000;

export type Lifecycle = ReturnType<typeof createLifecycle>;

export function createLifecycle(options: {
  /** Time limit for draining, in ms. */
  readonly graceMs: number;
  readonly stopTimeoutMs: number;
  readonly log: Log;
}) {
  const { graceMs, stopTimeoutMs, log } = options;
  const parts: Part[] = [];
  const early = new Set<Part>();
  const graceOver = new AbortController();
  let stopping: Promise<boolean> | null = null;

  /** Logs rejections and timeouts. A step that times out continues in the background. */
  async function attempt(part: Part, step: () => void | Promise<void>, limitMs: number): Promise<boolean> {
    try {
      const outcome = await within(limitMs, Promise.resolve(step()), 'late');
      if (outcome !== 'late') return true;
      log.error({ part: part.name, limitMs }, 'part of the daemon did not stop in time');
    } catch (error) {
      log.error({ part: part.name, err: error }, 'part of the daemon failed to stop');
    }
    return false;
  }

  async function inReverse(step: (part: Part) => void | Promise<void>): Promise<boolean> {
    let isClean = true;
    for (const part of [...parts, ...early].reverse()) {
      if (!(await attempt(part, () => step(part), stopTimeoutMs))) isClean = false;
    }
    return isClean;
  }

  const undo = (): Promise<boolean> => inReverse((part) => part.stop?.());

  async function drain(): Promise<boolean> {
    const grace = { ms: graceMs, signal: graceOver.signal };
    const limitMs = graceMs + COMMAND_END_MS + stopTimeoutMs;
    const drained = parts.map((part) => attempt(part, () => part.drain?.(grace), limitMs));
    return (await Promise.all(drained)).every(Boolean);
  }

  return {
    /** Starts a part, registers it for `stop`, and returns it. */
    async use<Kind extends Part>(part: Kind): Promise<Kind> {
      parts.push(part);
      if (!early.delete(part)) await part.start?.();
      return part;
    },

    /** Starts a part before its turn: `use` then only gives it its place in the order of stops. */
    async startEarly(part: Part): Promise<void> {
      early.add(part);
      await part.start?.();
    },

    /**
     * Drains all parts concurrently, then stops them in reverse order. A failure of one part does not affect the others. A second
     * call ends the grace period.
     * @returns whether all parts stopped without errors and in time; never rejects
     */
    stop(): Promise<boolean> {
      if (stopping) graceOver.abort();
      stopping ??= drain().then(async (isDrained) => (await undo()) && isDrained);
      return stopping;
    },

    /** Stops the parts without draining them, after a start that failed. Never rejects. */
    undo,

    /** Stops the parts without draining them, for a successor. Never rejects. @returns as `stop` */
    async handOver(): Promise<boolean> {
      // What cannot be written now is tried again by `handOver`, which reports it.
      const flushed = parts.map((part) => within(stopTimeoutMs, Promise.resolve(part.flush?.()), undefined));
      await Promise.allSettled(flushed);
      return inReverse((part) => (part.handOver ? part.handOver() : part.stop?.()));
    },
  };
}

export function createTasks(log: Log) {
  const pollers: Poller[] = [];
  return {
    /** Runs `work` every `intervalMs` until `stop`. Logs the first of consecutive failures under the task's name. */
    every(intervalMs: number, task: string, work: () => unknown): void {
      let isFailing = false;
      const poller = createPoller({
        intervalMs,
        async poll() {
          await work();
          isFailing = false;
        },
        onError(err) {
          if (!isFailing) log.error({ err, task }, 'background task failed; will retry');
          isFailing = true;
        },
        timers: nodeTimers,
      });
      pollers.push(poller);
      poller.start();
    },
    /** Starts no more runs; resolves when those in progress have ended. Never rejects. */
    async stop(): Promise<void> {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
}
