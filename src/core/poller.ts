// Polls periodically, one poll at a time.
import type { Timer, Timers } from './timers.js';

export interface Poller {
  start(): void;
  /** Polls immediately, or joins a running poll; resolves when it has ended. */
  poll(): Promise<void>;
  /** Stops polling; resolves when a running poll has ended. */
  stop(): Promise<void>;
}

export function createPoller(options: {
  readonly intervalMs: number;
  /** One poll. Rejections go to `onError`, and polling continues. */
  readonly poll: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly timers: Timers;
}): Poller {
  const { intervalMs, poll, onError, timers } = options;
  let timer: Timer | undefined;
  let running: Promise<void> | null = null;

  function pollNow(): Promise<void> {
    running ??= poll()
      .catch(onError)
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    start() {
      timer = timers.every(intervalMs, pollNow);
    },
    poll: pollNow,
    async stop() {
      timer?.clear();
      await running;
    },
  };
}
