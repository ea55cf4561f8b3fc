// Periodic background tasks: one run of each at a time, and one log line per failure.
import type { Log } from '../core/log.js';
import { createPoller, nodeTimers, type Poller } from '../core/timers.js';

export interface Tasks {
  /** Runs `work` every `intervalMs` until `stop`. Logs the first of consecutive failures under the task's name. */
  every(intervalMs: number, task: string, work: () => unknown): void;
  /** Starts no more runs; resolves when those in progress have ended. Never rejects. */
  stop(): Promise<void>;
}

export function createTasks(log: Log): Tasks {
  const pollers: Poller[] = [];
  return {
    every(intervalMs, task, work) {
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
    async stop() {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
}
