// The random delay before the answer to a refused login. A bound per source prevents exhaustion by waiting requests.
import { sourceOf } from '../../core/ip.js';
import type { Timers } from '../../core/timers.js';

const MIN_MS = 500;
const MAX_MS = 1500;

export interface LoginDelay {
  /** Whether `source` (a client address) has the maximum number of delayed answers. */
  isFull(source: string): boolean;
  /** Resolves after 500 to 1500 ms with 'elapsed', or as soon as `close` is called with 'closed'. */
  wait(source: string): Promise<'elapsed' | 'closed'>;
  /** Ends every wait and clears every timer. */
  close(): void;
}

/** `random` returns a number in [0, 1), as Math.random does. */
export function createLoginDelay({
  maxWaitingPerSource,
  random,
  timers,
}: {
  maxWaitingPerSource: number;
  random: () => number;
  timers: Timers;
}): LoginDelay {
  const waitingBySource = new Map<string, number>();
  const endings = new Set<() => void>();

  function add(source: string): void {
    waitingBySource.set(source, (waitingBySource.get(source) ?? 0) + 1);
  }

  function remove(source: string): void {
    const remaining = (waitingBySource.get(source) ?? 1) - 1;
    if (remaining === 0) waitingBySource.delete(source);
    else waitingBySource.set(source, remaining);
  }

  return {
    isFull: (address) =>
      waitingBySource.size > 0 && (waitingBySource.get(sourceOf(address)) ?? 0) >= maxWaitingPerSource,

    // The delay counts for its whole duration, even after the client disconnected: hanging up does not allow faster guessing.
    wait: (address) =>
      new Promise((resolve) => {
        const source = sourceOf(address);
        const end = (how: 'elapsed' | 'closed') => {
          timer.clear();
          endings.delete(endEarly);
          remove(source);
          resolve(how);
        };
        const endEarly = () => end('closed');
        // A timer may fire a millisecond early. The added millisecond keeps the lower bound.
        const delayMs = MIN_MS + 1 + Math.floor(random() * (MAX_MS - MIN_MS));
        const timer = timers.after(delayMs, () => end('elapsed'));
        endings.add(endEarly);
        add(source);
      }),

    close() {
      for (const endEarly of [...endings]) endEarly();
    },
  };
}
