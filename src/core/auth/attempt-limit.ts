// How many wrong guesses one source may make at the admin API and webhooks, in memory of this process.
import type { Clock } from '../clock.js';
import { sourceOf } from '../source.js';
import { type AttemptWindow, countAttempt, forgiveAttempts } from './attempt-window.js';

export interface AttemptLimit {
  /**
   * Counts an attempt of `address` (without a port) as a failure. Returns how many milliseconds its source has to wait, or,
   * when it may go on, null; an attempt that turns out to be right is then given back with `succeeded`.
   */
  attempt(address: string): number | null;
  /** Forgives the attempt just made, and none of those before it: what is right once says nothing of other guesses. */
  succeeded(address: string): void;
}

/**
 * The count starts anew `windowMs` after the first failure. `maxSources` are remembered; the one not seen for longest
 * is forgotten first.
 */
export function createAttemptLimit(options: {
  readonly maxFailures: number;
  readonly windowMs: number;
  readonly maxSources: number;
  readonly now: Clock;
}): AttemptLimit {
  const windows = new Map<string, AttemptWindow>();
  return {
    attempt(address) {
      const source = sourceOf(address);
      const now = options.now();
      const window = windows.get(source) ?? { count: 0, endsAt: 0 };
      // Last in the order of the map: seen most recently.
      windows.delete(source);
      windows.set(source, window);
      if (!countAttempt(window, options.maxFailures, options.windowMs, now)) return window.endsAt - now;
      if (windows.size > options.maxSources) {
        const [oldest] = windows.keys();
        if (oldest !== undefined) windows.delete(oldest);
      }
      return null;
    },

    succeeded(address) {
      const source = sourceOf(address);
      const window = windows.get(source);
      if (!window) return;
      forgiveAttempts(window);
      // Callers who are right take no room in the table.
      if (window.count === 0) windows.delete(source);
    },
  };
}
