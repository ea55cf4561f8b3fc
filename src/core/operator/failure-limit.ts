// How many wrong guesses one source may make: counted before the comparison, so that no burst gets past the limit.
import type { Clock } from '../clock.js';
import { sourceOf } from '../source.js';

export interface FailureLimit {
  /**
   * Counts an attempt of `source` (an address without a port). Returns how many milliseconds it has to wait, or, when it may
   * go on, null; then `undo` takes the count back for a guess that was right.
   */
  attempt(source: string): number | null;
  undo(source: string): void;
}

interface Window {
  readonly endsAt: number;
  failures: number;
}

/**
 * The count starts anew `windowMs` after the first failure. `maxSources` are remembered; the one not seen for longest
 * is forgotten first.
 */
export function createFailureLimit(options: {
  readonly maxFailures: number;
  readonly windowMs: number;
  readonly maxSources: number;
  readonly now: Clock;
}): FailureLimit {
  const windows = new Map<string, Window>();
  return {
    attempt(address) {
      const source = sourceOf(address);
      const now = options.now();
      const known = windows.get(source);
      const window = known && known.endsAt > now ? known : { endsAt: now + options.windowMs, failures: 0 };
      windows.delete(source);
      windows.set(source, window);
      if (window.failures >= options.maxFailures) return window.endsAt - now;
      window.failures += 1;
      const [oldest] = windows.keys();
      if (oldest !== undefined && windows.size > options.maxSources) windows.delete(oldest);
      return null;
    },
    undo(address) {
      windows.delete(sourceOf(address));
    },
  };
}
