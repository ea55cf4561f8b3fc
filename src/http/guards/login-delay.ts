// The random wait before a refused login is answered, bounded per source so that waiting cannot be used to exhaust us.
import { sourceOf } from '../../core/source.js';

const MIN_MS = 500;
const MAX_MS = 1500;

export interface LoginDelay {
  /** Whether as many answers wait for `source` (a client address) as may. */
  isFull(source: string): boolean;
  /** Resolves after 500 to 1500 ms with 'elapsed', or as soon as `close` is called with 'closed'. */
  wait(source: string): Promise<'elapsed' | 'closed'>;
  /** Ends every wait, and every timer. */
  close(): void;
}

/** `random` returns a number in [0, 1), as Math.random does. */
export function createLoginDelay({
  maxWaitingPerSource,
  random,
}: {
  maxWaitingPerSource: number;
  random: () => number;
}): LoginDelay {
  const waitingBySource = new Map<string, number>();
  const endings = new Set<() => void>();

  function add(source: string): void {
    waitingBySource.set(source, (waitingBySource.get(source) ?? 0) + 1);
  }

  function remove(source: string): void {
    const left = (waitingBySource.get(source) ?? 1) - 1;
    if (left === 0) waitingBySource.delete(source);
    else waitingBySource.set(source, left);
  }

  return {
    isFull: (address) =>
      waitingBySource.size > 0 && (waitingBySource.get(sourceOf(address)) ?? 0) >= maxWaitingPerSource,

    // Counted for the whole time, even after the client disconnected: hanging up does not allow faster guessing.
    wait: (address) =>
      new Promise((resolve) => {
        const source = sourceOf(address);
        const end = (how: 'elapsed' | 'closed') => {
          clearTimeout(timer);
          endings.delete(endEarly);
          remove(source);
          resolve(how);
        };
        const endEarly = () => end('closed');
        // A timer may fire a millisecond early; the lower bound must hold all the same.
        const delayMs = MIN_MS + 1 + Math.floor(random() * (MAX_MS - MIN_MS));
        const timer = setTimeout(end, delayMs, 'elapsed');
        endings.add(endEarly);
        add(source);
      }),

    close() {
      for (const endEarly of [...endings]) endEarly();
    },
  };
}
