// Limits failed logins per source at the admin API and webhooks, in the memory of this process.
import type { Clock } from '../clock.js';
import { sourceOf } from '../source.js';
import { type AttemptWindow, countAttempt, forgiveAttempts } from './attempt-window.js';

export interface AttemptLimit {
  /**
   * Counts an attempt of `address` (without a port) as a failure. Returns null when the attempt may be checked, or the number of
   * milliseconds that the source must wait. Call `succeeded` for a correct attempt.
   */
  attempt(address: string): number | null;
  /** Takes back the count of the current attempt, but not of earlier ones. */
  succeeded(address: string): void;
}

/**
 * The count resets `windowMs` after the first failure. Keeps at most `maxSources` sources, and drops the least recently seen.
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
      // Move the source to the end of the map: it is the most recently seen.
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
      // Sources without failures need no row.
      if (window.count === 0) windows.delete(source);
    },
  };
}
