// Detects dead daemons by their leases without comparing clocks: a daemon whose lease does not change for a while, by the clock of
// this process, is dead. Time without a response from the database does not count.
import type { RunNode } from '../core/agents/run-store.js';

/** Time that a daemon needs to end its runs after it lost its lease, in ms: SIGTERM, five seconds, SIGKILL. */
const ENDING_MS = 6000;

export interface LeaseWatch {
  /** Processes the current leases of the other daemons. Returns those whose lease has expired. */
  silent(others: readonly RunNode[]): RunNode[];
  /** Resets all times after the database did not answer. */
  forget(): void;
}

export function createLeaseWatch(leaseMs: number, monotonicNow: () => number): LeaseWatch {
  let known = new Map<string, { readonly seenAt: number; readonly since: number }>();
  return {
    silent(others) {
      const at = monotonicNow();
      known = new Map(
        others.map(({ id, seenAt }) => {
          const before = known.get(id);
          return [id, before?.seenAt === seenAt ? before : { seenAt, since: at }];
        }),
      );
      return others.filter(({ id }) => at - (known.get(id)?.since ?? at) > leaseMs + ENDING_MS);
    },
    forget: () => known.clear(),
  };
}

export interface OwnLease {
  /** Whether the lease of this daemon is valid. */
  isHeld(): boolean;
  /** Records a renewal by a request that started at `startedAt`. */
  renewed(startedAt: number): void;
  stop(): void;
}

/** @param onLost called once each time that the lease was not renewed in time */
export function createOwnLease(leaseMs: number, monotonicNow: () => number, onLost: () => void): OwnLease {
  let renewedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  return {
    isHeld: () => monotonicNow() - renewedAt < leaseMs,
    renewed(startedAt) {
      renewedAt = startedAt;
      clearTimeout(timer);
      timer = setTimeout(onLost, startedAt + leaseMs - monotonicNow()).unref();
    },
    stop: () => clearTimeout(timer),
  };
}
