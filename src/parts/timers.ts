// Work at intervals: timers that do not keep the process alive, and one log line when their work fails.
import type { Log } from '../core/log.js';

export interface Timers {
  /** Runs `task` every so many ms until `stop`. */
  every(ms: number, task: () => void): void;
  /** Does `work`; a failure is logged once, until it works again. What was not written waits. Never rejects. */
  attempt(what: string, work: () => Promise<unknown>): Promise<void>;
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
    async attempt(what, work) {
      try {
        await work();
        failing.delete(what);
      } catch (err) {
        if (!failing.has(what)) log.error({ err }, `${what} not written; kept and tried again`);
        failing.add(what);
      }
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
