// How many wrong guesses one source may make: counted before the comparison, so that no burst gets past the limit.
import type { Clock } from '../clock.js';
import { sourceOf } from '../source.js';

export interface AttemptLimit {
  /**
   * Counts an attempt of `address` (without a port) as a failure. Returns how many milliseconds its source has to wait, or,
   * when it may go on, null; an attempt that turns out to be right is then given back with `succeeded`.
   */
  attempt(address: string): number | null;
  /** Forgives the attempt just made, and none of those before it: what is right once says nothing of other guesses. */
  succeeded(address: string): void;
}

interface Window {
  readonly endsAt: number;
  failures: number;
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
  const windows = new Map<string, Window>();
  return {
    attempt(address) {
      const source = sourceOf(address);
      const now = options.now();
      const known = windows.get(source);
      const window = known && known.endsAt > now ? known : { endsAt: now + options.windowMs, failures: 0 };
      // Last in the order of the map: seen most recently.
      windows.delete(source);
      windows.set(source, window);
      if (window.failures >= options.maxFailures) return window.endsAt - now;
      window.failures += 1;
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
      window.failures -= 1;
      // Callers who are right take no room in the table.
      if (window.failures <= 0) windows.delete(source);
    },
  };
}
