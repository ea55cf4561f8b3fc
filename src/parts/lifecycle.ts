// The life of the daemon: its parts start in the order in which they are used, and stop in the reverse order.
import type { Log } from '../core/log.js';

/** Something that lives as long as the daemon. */
export interface Part {
  /** For the log. */
  readonly name: string;
  /** Rejects when it cannot; `stop` is called all the same. */
  start?(): void | Promise<void>;
  /** Finishes what is under way, at the end of the daemon and before any part stops; `grace` says for how long. */
  drain?(grace: Grace): void | Promise<void>;
  /** Rejects when it did not end in order or could not write what it still had. */
  stop(): void | Promise<void>;
}

export interface Grace {
  /** How long what is under way may take, in ms. */
  readonly ms: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
}

/** How long a command of an agent may take to end once its grace is over, in ms. */
const COMMAND_END_MS = 5_000;

export interface Lifecycle {
  /** Starts a part, to be stopped with the others; resolves with it. */
  use<Kind extends Part>(part: Kind): Promise<Kind>;
  /**
   * Drains all parts at once, then stops them in reverse order, each whatever becomes of the others. A second call ends the wait.
   * @returns whether all ended in order and in time; never rejects
   */
  stop(): Promise<boolean>;
  /** Stops the parts without draining them, after a start that failed. Never rejects. */
  undo(): Promise<boolean>;
}

export function createLifecycle(options: {
  /** Longest that what is under way may take, in ms. */
  readonly graceMs: number;
  /** Longest that the end of each part may take, in ms. */
  readonly stopTimeoutMs: number;
  readonly log: Log;
}): Lifecycle {
  const { graceMs, stopTimeoutMs, log } = options;
  const parts: Part[] = [];
  const impatience = new AbortController();
  let stopping: Promise<boolean> | null = null;

  /** Rejections and delays are logged; what a late step is at then goes on, unwatched. */
  async function attempt(part: Part, step: () => void | Promise<void>, limitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, limitMs, 'late');
    });
    try {
      const outcome = await Promise.race([Promise.resolve(step()).then(() => 'ended' as const), late]);
      if (outcome === 'ended') return true;
      log.error({ part: part.name, limitMs }, 'a part of the daemon did not stop in time');
    } catch (error) {
      log.error({ part: part.name, err: error }, 'a part of the daemon did not stop in order');
    } finally {
      clearTimeout(timer);
    }
    return false;
  }

  async function undo(): Promise<boolean> {
    let isInOrder = true;
    for (const part of [...parts].reverse()) {
      if (!(await attempt(part, () => part.stop(), stopTimeoutMs))) isInOrder = false;
    }
    return isInOrder;
  }

  async function drain(): Promise<boolean> {
    const grace = { ms: graceMs, signal: impatience.signal };
    const limitMs = graceMs + COMMAND_END_MS + stopTimeoutMs;
    const drained = parts.map((part) => attempt(part, () => part.drain?.(grace), limitMs));
    return (await Promise.all(drained)).every(Boolean);
  }

  return {
    async use(part) {
      parts.push(part);
      await part.start?.();
      return part;
    },

    stop() {
      if (stopping) impatience.abort();
      stopping ??= drain().then(async (isDrained) => (await undo()) && isDrained);
      return stopping;
    },

    undo,
  };
}
