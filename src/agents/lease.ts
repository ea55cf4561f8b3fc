// Detects dead daemons by their leases without comparing clocks: a daemon whose lease does not change for a while, by the clock of
// this process, is dead. Time without a response from the database does not count.
import type { RunNode } from '../core/agents/run-store.js';

/** Time that a daemon needs to end its runs after it lost its lease, in ms: SIGTERM, five seconds, SIGKILL. */
const ENDING_MS = 6000;

export function createLeaseWatch(leaseMs: number, monotonicNow: () => number) {
  let known = new Map<string, { readonly seenAt: number; readonly since: number }>();
  return {
    /** Processes the current leases of the other daemons. Returns those whose lease has expired. */
    silent(others: readonly RunNode[]): RunNode[] {
      const at = monotonicNow();
      known = new Map(
        others.map(({ id, seenAt }) => {
          const before = known.get(id);
          return [id, before?.seenAt === seenAt ? before : { seenAt, since: at }];
        }),
      );
      return others.filter(({ id }) => at - (known.get(id)?.since ?? at) > leaseMs + ENDING_MS);
    },
    /** Resets all times after the database did not answer. */
    forget: (): void => known.clear(),
  };
}

/** @param onLost called once each time that the lease was not renewed in time */
export function createOwnLease(leaseMs: number, monotonicNow: () => number, onLost: () => void) {
  let renewedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Whether the lease of this daemon is valid. */
    isHeld: (): boolean => monotonicNow() - renewedAt < leaseMs,
    /** Records a renewal by a request that started at `startedAt`. */
    renewed(startedAt: number): void {
      renewedAt = startedAt;
      clearTimeout(timer);
      timer = setTimeout(onLost, startedAt + leaseMs - monotonicNow()).unref();
    },
    stop: (): void => clearTimeout(timer),
  };
}
