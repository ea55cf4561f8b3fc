// How many wrong tokens one source may send: counted before the comparison, so that no burst gets past the limit.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.js';
import { parseIp } from '../core/ip.js';

export interface FailureLimit {
  /**
   * Counts an attempt of `source` (an address without a port). Returns how many milliseconds it has to wait, or, when it may
   * go on, null; then `undo` takes the count back for a token that was right.
   */
  attempt(source: string): number | null;
  undo(source: string): void;
}

export interface FailureLimitOptions {
  readonly maxFailures: number;
  /** The count starts anew this long after the first failure, in milliseconds. */
  readonly windowMs: number;
  /** Sources remembered; the one not seen for longest is forgotten first. */
  readonly maxSources: number;
  readonly now: Clock;
}

interface Window {
  readonly endsAt: number;
  failures: number;
}

export function createFailureLimit(options: FailureLimitOptions): FailureLimit {
  const windows = new LRUCache<string, Window>({ max: options.maxSources });
  return {
    attempt(address) {
      const source = sourceOf(address);
      const now = options.now();
      const known = windows.get(source);
      const window = known && known.endsAt > now ? known : { endsAt: now + options.windowMs, failures: 0 };
      if (window.failures >= options.maxFailures) return window.endsAt - now;
      window.failures++;
      windows.set(source, window);
      return null;
    },
    undo(address) {
      const source = sourceOf(address);
      const window = windows.get(source);
      if (!window) return;
      window.failures--;
      // Callers with the right token take no room in the table.
      if (window.failures <= 0) windows.delete(source);
    },
  };
}

/** One host commonly holds a whole IPv6 /64, so that is one source. */
function sourceOf(address: string): string {
  const ip = parseIp(address);
  return ip?.length === 16 ? Buffer.from(ip.subarray(0, 8)).toString('hex') : address;
}
