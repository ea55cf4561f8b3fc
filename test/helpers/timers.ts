// Timers that the test moves itself.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Timer, Timers } from '../../src/core/time/timers.js';

export interface TestTimers extends Timers {
  /** Lets time pass and calls back what is due, in order. What follows from one callback happens before the next. */
  pass(ms: number): Promise<void>;
  /** The number of timers that are set. */
  waiting(): number;
}

export function createTestTimers(): TestTimers {
  const waiting = new Map<Timer, { dueAt: number; readonly callback: () => void }>();
  let now = 0;

  function add(dueAt: number, callback: (timer: Timer) => void): Timer {
    const timer: Timer = { clear: () => void waiting.delete(timer) };
    waiting.set(timer, { dueAt, callback: () => callback(timer) });
    return timer;
  }

  return {
    after: (delayMs, callback) =>
      add(now + delayMs, (timer) => {
        timer.clear();
        callback();
      }),

    every: (intervalMs, callback) =>
      add(now + intervalMs, (timer) => {
        const entry = waiting.get(timer);
        if (entry) entry.dueAt += intervalMs;
        callback();
      }),

    waiting: () => waiting.size,

    async pass(ms) {
      const until = now + ms;
      for (;;) {
        await nextTurn();
        const [next] = [...waiting.values()].sort((one, other) => one.dueAt - other.dueAt);
        if (!next || next.dueAt > until) break;
        now = next.dueAt;
        next.callback();
      }
      now = until;
    },
  };
}
