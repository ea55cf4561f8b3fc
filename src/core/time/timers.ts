// Timers are a parameter of all rules, like the clock, so that tests need not wait. A poller polls periodically.
import { joined } from './turns.js';

export interface Timer {
  /** The callback is not called any more. Calling it again, or after the callback, does nothing. */
  clear(): void;
}

export interface Timers {
  /** Calls back once, `delayMs` from now or a little later. */
  after(delayMs: number, callback: () => void): Timer;
  /** Calls back every `intervalMs`. Does not keep the process alive. */
  every(intervalMs: number, callback: () => void): Timer;
}

export const nodeTimers: Timers = {
  after(delayMs, callback) {
    const timeout = setTimeout(callback, delayMs);
    return { clear: () => clearTimeout(timeout) };
  },
  /** Timers of the same interval, or of its multiples, call back together: an idle process wakes once for all of them. */
  every(intervalMs, callback) {
    let timeout: NodeJS.Timeout;
    const wait = (): void => {
      const now = performance.now() + EARLY_MS;
      timeout = setTimeout(run, Math.ceil(EARLY_MS + intervalMs - (now % intervalMs))).unref();
    };
    const run = (): void => {
      wait();
      callback();
    };
    wait();
    return { clear: () => clearTimeout(timeout) };
  },
};

/** A timeout may end this much too early by `performance.now`, because libuv counts whole milliseconds. */
const EARLY_MS = 2;

/** Settles as `work`, or resolves with `late` after `limitMs`; `work` then continues. */
export async function within<Result, Late>(
  limitMs: number,
  work: Promise<Result>,
  late: Late,
  timers: Timers = nodeTimers,
): Promise<Result | Late> {
  let timer: Timer | undefined;
  const limit = new Promise<Late>((resolve) => {
    timer = timers.after(limitMs, () => resolve(late));
  });
  return Promise.race([work, limit]).finally(() => timer?.clear());
}

export type Poller = ReturnType<typeof createPoller>;

export function createPoller(options: {
  readonly intervalMs: number;
  /** One poll. Rejections go to `onError`, and polling continues. */
  readonly poll: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly timers: Timers;
}) {
  const { intervalMs, poll, onError, timers } = options;
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  const pollOnce = joined(() => poll().catch(onError));
  const pollNow = (): Promise<void> => {
    running = pollOnce();
    return running;
  };

  return {
    start(): void {
      timer = timers.every(intervalMs, pollNow);
    },
    /** Polls immediately, or joins a running poll; resolves when it has ended. */
    poll: pollNow,
    /** Stops polling; resolves when a running poll has ended. */
    async stop(): Promise<void> {
      timer?.clear();
      await running;
    },
  };
}
