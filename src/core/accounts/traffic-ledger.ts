// What every account has used: counted in memory by the meter, written to the database, and summed from there anew
// when another period counts other days.

import type { Clock } from '../clock.js';
import { createTurns } from '../turns.js';
import type { LimitStore } from './limit-store.js';
import {
  dayOf,
  type KeptLimits,
  NO_LIMITS,
  periodStart,
  QUOTA_PERIODS,
  type QuotaPeriod,
  type TrafficOfDay,
  type TrafficSums,
} from './limits.js';
import { type CountedTraffic, type MeteredSession, TrafficMeter } from './usage.js';

/** What an account has used on another host. */
export interface UsedElsewhere {
  readonly accountId: string;
  readonly used: CountedTraffic;
}

export interface TrafficLedger {
  opened(session: MeteredSession): void;
  closed(session: MeteredSession): void;
  /** Counts what the live sessions have moved since the last time. */
  collect(): void;
  /** What an account had used at the last `collect`. */
  used(accountId: string): CountedTraffic;
  /** Fills the memory at start, given what is kept of every account that has limits. Rejects when the database cannot be read. */
  load(kept: ReadonlyMap<string, KeptLimits>): Promise<void>;
  /** Reads the sums of accounts anew: another period counts other days. */
  recount(accountIds: readonly string[]): Promise<void>;
  /** A new account, which has used nothing: from now on it is counted within its period. */
  begin(accountId: string): void;
  /** Counts what accounts have used elsewhere; one that has used something here stays as it is. Meant for `afterWriting`. */
  takeIn(usages: readonly UsedElsewhere[]): Promise<void>;
  /** In turn with other writes: what was counted is in the database when `work` begins. */
  afterWriting<T>(work: () => Promise<T>): Promise<T>;
  /** Writes what was counted. Rejects with the database's error when it cannot; nothing is lost then. */
  flush(): Promise<void>;
  forget(accountId: string): void;
}

/** @param keptOf what holds for an account now: its period and the last reset decide what counts */
export function createTrafficLedger(uses: {
  readonly store: Pick<LimitStore, 'sums' | 'addTraffic'>;
  readonly keptOf: (accountId: string) => KeptLimits;
  readonly now: Clock;
}): TrafficLedger {
  const { store, keptOf, now } = uses;
  const meter = new TrafficMeter();
  // Sums are read between two writes: what is under way would be in neither the sum nor the waiting rows.
  const inTurn = createTurns();

  function take({ accountId, bytesUp, bytesDown, bytesSince }: TrafficSums, at: number): void {
    const { limits, reset } = keptOf(accountId);
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

  async function recount(accountIds: readonly string[]): Promise<void> {
    const at = now();
    for (const period of QUOTA_PERIODS) {
      const ids = accountIds.filter((id) => keptOf(id).limits.quotaPeriod === period);
      if (ids.length === 0) continue;
      const found = new Map(
        (await store.sums(firstDay(period, at), ids)).map((sums) => [sums.accountId, sums]),
      );
      for (const id of ids) take(found.get(id) ?? noTraffic(id), at);
    }
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

  /** Writes, and reads what the clock has made unknown: it was set back to a period of before this start. */
  async function writeAndRead(): Promise<void> {
    await write();
    const unknown = meter.unknown();
    if (unknown.length > 0) await recount(unknown);
  }

  return {
    opened: (session) => meter.opened(session, now()),
    closed: (session) => meter.closed(session, now()),
    collect: () => meter.collect(now()),
    used: (accountId) => meter.used(accountId, now()),

    async load(kept) {
      const at = now();
      const periods = new Set([NO_LIMITS.quotaPeriod]);
      for (const [id, { limits }] of kept) {
        periods.add(limits.quotaPeriod);
        take(noTraffic(id), at);
      }
      for (const period of periods) {
        for (const sums of await store.sums(firstDay(period, at))) {
          if (keptOf(sums.accountId).limits.quotaPeriod === period) take(sums, at);
        }
      }
    },

    recount,

    begin: (accountId) => take(noTraffic(accountId), now()),

    async takeIn(usages) {
      const at = now();
      const fresh = usages.filter(({ accountId }) => {
        const has = meter.used(accountId, at);
        return has.totalBytesUp + has.totalBytesDown === 0;
      });
      if (fresh.length === 0) return;
      await store.addTraffic(
        fresh.flatMap((usage) => daysOf(usage, keptOf(usage.accountId).limits.quotaPeriod, at)),
      );
      await recount(fresh.map(({ accountId }) => accountId));
    },

    afterWriting: (work) =>
      inTurn('traffic', async () => {
        await writeAndRead();
        return work();
      }),
    flush: () => inTurn('traffic', writeAndRead),
    forget: (accountId) => meter.forget(accountId),
  };
}

/** Sums of an account that the database knows no traffic of: its period must be known before it has any. */
function noTraffic(accountId: string): TrafficSums {
  return { accountId, bytesUp: 0, bytesDown: 0, bytesSince: 0 };
}

/** What is of the period counts as of today, the rest as of the day before the period. */
function daysOf(
  { accountId, used: { totalBytesUp, totalBytesDown, periodBytes } }: UsedElsewhere,
  period: QuotaPeriod,
  at: number,
): TrafficOfDay[] {
  const ofPeriod = Math.min(periodBytes, totalBytesUp + totalBytesDown);
  const periodUp = Math.min(ofPeriod, totalBytesUp);
  const periodDown = ofPeriod - periodUp;
  const today = dayOf(at);
  const earlier = (firstDay(period, at) ?? today) - 1;
  const bytesUp = totalBytesUp - periodUp;
  const bytesDown = totalBytesDown - periodDown;
  return [
    { accountId, day: today, bytesUp: periodUp, bytesDown: periodDown, sessions: 0 },
    { accountId, day: earlier, bytesUp, bytesDown, sessions: 0 },
  ];
}

/** The first day a period counts, in days since the epoch; null: every day. */
function firstDay(period: QuotaPeriod, now: number): number | null {
  const start = periodStart(period, now);
  return start === null ? null : dayOf(start);
}
