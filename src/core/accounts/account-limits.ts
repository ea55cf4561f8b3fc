// The limits of every account: kept in memory beside what is used of them, asked by the listener, enforced on live
// sessions, changed by the operator. The counts are this process's own; several daemons would share them behind
// `SessionLimits`, which is all that the listener knows.

import type { Clock } from '../clock.js';
import type { EgressPolicy } from '../egress/egress.js';
import { parseIp } from '../ip.js';
import type { Actor } from '../operator/audit.js';
import type { LimitStore } from '../ports.js';
import { type AccountRates, createSharedRate } from '../sessions/rate-limit.js';
import type { Session, SessionRegistry } from '../sessions/session.js';
import { createTurns } from '../turns.js';
import {
  type AccountLimits,
  countedSince,
  dayOf,
  type KeptLimits,
  type LimitRefusal,
  type LimitUsage,
  NO_LIMITS,
  periodEnd,
  periodStart,
  type QuotaPeriod,
  type TrafficOfDay,
  type TrafficSums,
} from './limits.js';
import { type CountedTraffic, type MeteredSession, TrafficMeter } from './usage.js';

/** What the listener asks. */
export interface SessionLimits {
  /** Why the account may have no further session from this address now; null: it may. */
  refusal(accountId: string, clientAddress: string): LimitRefusal | null;
  /** The rates its sessions share; undefined when it has none. */
  rates(accountId: string): AccountRates | undefined;
  /** Name of its egress class; null: none. */
  egressClass(accountId: string): string | null;
  /** A session has begun to move bytes. */
  opened(session: MeteredSession): void;
  closed(session: MeteredSession): void;
  /** Counts traffic and ends the sessions of accounts whose quota is used up. Meant to be called about once a second. */
  enforce(): void;
}

export type ChangeLimitsResult =
  | { readonly ok: true; readonly limits: AccountLimits }
  | { readonly ok: false; readonly reason: 'not-found' | 'unknown-egress-class' };

export interface LimitsView {
  readonly limits: AccountLimits;
  readonly usage: LimitUsage;
}

export interface AccountLimitsService extends SessionLimits {
  /** Fills the memory at start. */
  load(): Promise<void>;
  /** Limits and usage of an account that exists. */
  view(accountId: string): LimitsView;
  /** The same as of the last second: for lists, where counting anew for each would be quadratic. */
  glance(accountId: string): LimitsView;
  /** Writes the limits given, leaves the others; live sessions are held to them at once. Rejects when the database cannot be written. */
  change(accountId: string, change: Partial<AccountLimits>, by: Actor): Promise<ChangeLimitsResult>;
  /** Whether the configuration has the egress class; null, the rules for everybody, there always is. */
  hasEgressClass(name: string | null): boolean;
  /** Counts what an account has used elsewhere; one that has used something here stays as it is. */
  takeIn(accountId: string, used: CountedTraffic): Promise<void>;
  /** Starts the quota period again from nothing; false when there is no such account. */
  reset(accountId: string, by: Actor): Promise<boolean>;
  /** Takes over an account's limits as the database has them, after another process changed them. */
  refresh(accountId: string): Promise<void>;
  /** The account is gone. */
  forget(accountId: string): void;
  /** Traffic per day from `fromDay` (days since the epoch) on, days without any left out, oldest first. */
  traffic(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Writes what was counted. Rejects with the database's error when it cannot; nothing is lost then. */
  flush(): Promise<void>;
}

export interface AccountLimitsOptions {
  readonly store: LimitStore;
  readonly sessions: SessionRegistry;
  /** The policy of an egress class; undefined when the configuration has no such class, which then permits nothing. */
  readonly egressOf: (egressClass: string | null) => EgressPolicy | undefined;
  readonly now: Clock;
  /** A clock that is never set back, in ms. */
  readonly monotonicNow: Clock;
}

const NOTHING_KEPT: KeptLimits = { limits: NO_LIMITS, reset: null };

export function createAccountLimits(options: AccountLimitsOptions): AccountLimitsService {
  const { store, sessions, egressOf, now, monotonicNow } = options;
  const kept = new Map<string, KeptLimits>();
  const rates = new Map<string, AccountRates>();
  const meter = new TrafficMeter();
  // Sums are read between two writes: what is under way would be in neither the sum nor the waiting rows.
  const inTurn = createTurns();
  const of = (accountId: string): KeptLimits => kept.get(accountId) ?? NOTHING_KEPT;

  function refusal(accountId: string, clientAddress: string): LimitRefusal | null {
    const account = kept.get(accountId);
    if (!account) return null;
    const { maxSessions, maxClientAddresses } = account.limits;
    if (isOverQuota(accountId, account)) return 'over-quota';
    if (maxSessions === null && maxClientAddresses === null) return null;
    const live = sessions.ofAccount(accountId);
    if (maxSessions !== null && live.length >= maxSessions) return 'too-many-sessions';
    if (maxClientAddresses === null) return null;
    const addresses = addressesOf(live);
    return addresses.size >= maxClientAddresses && !addresses.has(clientAddress)
      ? 'too-many-addresses'
      : null;
  }

  function isOverQuota(accountId: string, { limits }: KeptLimits): boolean {
    return limits.quotaBytes !== null && meter.used(accountId, now()).periodBytes >= limits.quotaBytes;
  }

  /** Brings the live sessions under what holds now. The oldest sessions and the addresses that came first stay. */
  function apply(accountId: string, before: KeptLimits): void {
    const { limits } = of(accountId);
    applyRates(accountId, limits);
    const isClassChanged = limits.egressClass !== before.limits.egressClass;
    const policy = isClassChanged ? egressOf(limits.egressClass) : undefined;
    const addresses = new Set<string>();
    let count = 0;
    for (const session of sessions.ofAccount(accountId)) {
      const isNewAddress = !addresses.has(session.client.address);
      const isTooMany =
        count >= (limits.maxSessions ?? Number.POSITIVE_INFINITY) ||
        (isNewAddress && addresses.size >= (limits.maxClientAddresses ?? Number.POSITIVE_INFINITY));
      if (isTooMany || (isClassChanged && !isPermitted(session, policy))) {
        session.end('limits-changed');
        continue;
      }
      count += 1;
      addresses.add(session.client.address);
    }
    if (isOverQuota(accountId, of(accountId))) sessions.endAccount(accountId, 'over-quota');
  }

  function applyRates(accountId: string, limits: AccountLimits): void {
    const up = limits.bytesPerSecondUp ?? Number.POSITIVE_INFINITY;
    const down = limits.bytesPerSecondDown ?? Number.POSITIVE_INFINITY;
    const shared = rates.get(accountId);
    if (shared) {
      shared.up.setRate(up);
      shared.down.setRate(down);
      return;
    }
    if (up === Number.POSITIVE_INFINITY && down === Number.POSITIVE_INFINITY) return;
    const made: AccountRates = {
      up: createSharedRate(up, monotonicNow),
      down: createSharedRate(down, monotonicNow),
    };
    rates.set(accountId, made);
    // A session that can no longer be slowed down is ended instead: its client comes back under the limit.
    for (const session of sessions.ofAccount(accountId)) {
      if (!session.limitRates(made)) session.end('limits-changed');
    }
  }

  /** Reads the account's sums anew: another period counts other days. */
  async function recount(accountId: string): Promise<void> {
    const at = now();
    const { quotaPeriod } = of(accountId).limits;
    const [sums] = await store.sums(firstDay(quotaPeriod, at), accountId);
    if (sums) take(sums, at);
  }

  function take({ accountId, bytesUp, bytesDown, bytesSince }: TrafficSums, at: number): void {
    const { limits, reset } = of(accountId);
    const start = periodStart(limits.quotaPeriod, at);
    const countsFromReset = reset !== null && (start === null || reset.at >= start);
    const periodBytes = countsFromReset ? bytesUp + bytesDown - reset.totalBytes : bytesSince;
    meter.load(
      accountId,
      limits.quotaPeriod,
      { totalBytesUp: bytesUp, totalBytesDown: bytesDown, periodBytes },
      at,
    );
  }

  function keep(accountId: string, stored: KeptLimits | null): void {
    if (stored) kept.set(accountId, stored);
    else kept.delete(accountId);
  }

  /** In turn with other writes: what was counted is in the database when `work` begins. */
  function afterWriting<T>(work: () => Promise<T>): Promise<T> {
    return inTurn('traffic', async () => {
      await write();
      return work();
    });
  }

  async function write(): Promise<void> {
    meter.collect(now());
    const rows = meter.take();
    if (rows.length === 0) return;
    try {
      await store.addTraffic(rows);
    } catch (error) {
      meter.restore(rows);
      throw error;
    }
  }

  function glance(accountId: string): LimitsView {
    const at = now();
    const { limits, reset } = of(accountId);
    const live = sessions.ofAccount(accountId);
    const used = meter.used(accountId, at);
    const usage = {
      sessions: live.length,
      clientAddresses: addressesOf(live).size,
      periodBytes: used.periodBytes,
      periodStartedAt: countedSince(limits.quotaPeriod, reset?.at ?? null, at),
      periodEndsAt: periodEnd(limits.quotaPeriod, at),
      totalBytesUp: used.totalBytesUp,
      totalBytesDown: used.totalBytesDown,
    };
    return { limits, usage };
  }

  return {
    refusal,
    rates: (accountId) => rates.get(accountId),
    egressClass: (accountId) => of(accountId).limits.egressClass,
    opened: (session) => meter.opened(session, now()),
    closed: (session) => meter.closed(session, now()),

    enforce() {
      meter.collect(now());
      for (const accountId of [...sessions.accounts()]) {
        const account = kept.get(accountId);
        if (account && isOverQuota(accountId, account)) sessions.endAccount(accountId, 'over-quota');
      }
    },

    async load() {
      const at = now();
      for (const { accountId, ...stored } of await store.all()) {
        keep(accountId, stored);
        applyRates(accountId, stored.limits);
      }
      const periods = new Set(
        [NO_LIMITS, ...Array.from(kept.values(), ({ limits }) => limits)].map(
          ({ quotaPeriod }) => quotaPeriod,
        ),
      );
      for (const period of periods) {
        for (const sums of await store.sums(firstDay(period, at))) {
          if (of(sums.accountId).limits.quotaPeriod === period) take(sums, at);
        }
      }
    },

    view(accountId) {
      meter.collect(now());
      return glance(accountId);
    },
    glance,
    hasEgressClass: (name) => egressOf(name) !== undefined,

    change: (accountId, change, by) =>
      afterWriting(async () => {
        const before = of(accountId);
        const limits = { ...before.limits, ...change };
        if (limits.egressClass !== null && !egressOf(limits.egressClass)) {
          return { ok: false, reason: 'unknown-egress-class' };
        }
        if (!(await store.save(accountId, { limits, reset: before.reset }, before, by)))
          return { ok: false, reason: 'not-found' };
        keep(accountId, { limits, reset: before.reset });
        if (limits.quotaPeriod !== before.limits.quotaPeriod) await recount(accountId);
        apply(accountId, before);
        return { ok: true, limits };
      }),

    takeIn: (accountId, { totalBytesUp, totalBytesDown, periodBytes }) =>
      afterWriting(async () => {
        const at = now();
        const has = meter.used(accountId, at);
        if (has.totalBytesUp + has.totalBytesDown > 0) return;
        // What is of the period counts as of today, the rest as of the day before the period.
        const period = Math.min(periodBytes, totalBytesUp + totalBytesDown);
        const periodUp = Math.min(period, totalBytesUp);
        const periodDown = period - periodUp;
        const today = dayOf(at);
        const earlier = (firstDay(of(accountId).limits.quotaPeriod, at) ?? today) - 1;
        await store.addTraffic([
          { accountId, day: today, bytesUp: periodUp, bytesDown: periodDown, sessions: 0 },
          {
            accountId,
            day: earlier,
            bytesUp: totalBytesUp - periodUp,
            bytesDown: totalBytesDown - periodDown,
            sessions: 0,
          },
        ]);
        await recount(accountId);
      }),

    reset: (accountId, by) =>
      afterWriting(async () => {
        const before = of(accountId);
        const { limits } = before;
        const at = now();
        const { totalBytesUp, totalBytesDown } = meter.used(accountId, at);
        const reset = { at, totalBytes: totalBytesUp + totalBytesDown };
        if (!(await store.save(accountId, { limits, reset }, before, by))) return false;
        keep(accountId, { limits, reset });
        await recount(accountId);
        return true;
      }),

    refresh: (accountId) =>
      afterWriting(async () => {
        const before = of(accountId);
        keep(accountId, await store.get(accountId));
        await recount(accountId);
        apply(accountId, before);
      }),

    forget(accountId) {
      kept.delete(accountId);
      rates.delete(accountId);
      meter.forget(accountId);
    },

    traffic: (accountId, fromDay) => afterWriting(() => store.traffic(accountId, fromDay)),
    flush: () => inTurn('traffic', write),
  };
}

/** The first day a period counts, in days since the epoch; null: every day. */
function firstDay(period: QuotaPeriod, now: number): number | null {
  const start = periodStart(period, now);
  return start === null ? null : dayOf(start);
}

function addressesOf(live: readonly Session[]): Set<string> {
  return new Set(live.map((session) => session.client.address));
}

/** Whether a live session's destination may be reached under `policy`. An association may send anywhere: it must ask anew. */
function isPermitted(session: Session, policy: EgressPolicy | undefined): boolean {
  if (!policy || session.command !== 'connect') return false;
  const { host, address, port } = session.destination;
  const ip = parseIp(address);
  return ip !== null && policy.judge({ host: parseIp(host) ? null : host, ip, port }).ok;
}
