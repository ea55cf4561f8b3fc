// Telling by their leases which daemons live, without comparing clocks: whoever says nothing new for a while, as seen from here,
// is gone. A time in which the database did not answer does not count, so nobody is taken for dead because of it.
import type { Runner } from '../core/agents/run-store.js';

/** How long a daemon whose lease is lost may need to end its runs, in ms: SIGTERM, five seconds, SIGKILL. */
const ENDING_MS = 6000;

export interface LeaseWatch {
  /** Takes what the database says of the others. Returns those that have been silent for longer than they may be. */
  silent(others: readonly Runner[]): Runner[];
  /** The database did not answer: what was seen before counts no more. */
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
  /** Whether the others still wait for this daemon. */
  isHeld(): boolean;
  /** It was renewed by a request begun at `startedAt`. */
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
