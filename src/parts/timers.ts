// Periodic background tasks: timers that do not keep the process alive, and one log line per failure.
import type { Log } from '../core/log.js';

export interface Timers {
  /** Runs `task` every `ms` until `stop`. */
  every(ms: number, task: () => void): void;
  /** Runs `work`. Logs the first of consecutive failures. Never rejects. */
  attempt(task: string, work: () => Promise<unknown>): Promise<void>;
  /** Stops the timers. */
  stop(): void;
}

export function createTimers(log: Log): Timers {
  const timers: NodeJS.Timeout[] = [];
  const failing = new Set<string>();
  return {
    every(ms, task) {
      timers.push(setInterval(task, ms).unref());
    },
    async attempt(task, work) {
      try {
        await work();
        failing.delete(task);
      } catch (err) {
        if (!failing.has(task)) log.error({ err, task }, 'background task failed; will retry');
        failing.add(task);
      }
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
