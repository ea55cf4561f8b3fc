// How much each account has moved: counted from its live sessions, kept per day for the history, summed for its quota.

import type { Session } from '../sessions/session.js';
import { dayOf, periodEnd, type QuotaPeriod, type TrafficOfDay } from './limits.js';

export type MeteredSession = Pick<Session, 'accountId' | 'bytesUp' | 'bytesDown'>;

/** An account's traffic so far. */
export interface CountedTraffic {
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
  /** Since the quota last began. */
  readonly periodBytes: number;
}

interface Used {
  up: number;
  down: number;
  periodBytes: number;
  period: QuotaPeriod;
  /** When `periodBytes` begins again from nothing; null: never. */
  periodEndsAt: number | null;
}

interface Counts {
  up: number;
  down: number;
  sessions: number;
}

/** The traffic of every account in this process. What is not yet in the database waits here, by day. */
export class TrafficMeter {
  readonly #open = new Map<MeteredSession, { up: number; down: number }>();
  readonly #used = new Map<string, Used>();
  #unwritten = new Map<string, Map<number, Counts>>();

  /** Starts from what the database has counted of an account; what is not yet written is added. */
  load(accountId: string, period: QuotaPeriod, counted: CountedTraffic, now: number): void {
    const { up, down } = this.#unwrittenSum(accountId);
    this.#used.set(accountId, {
      up: counted.totalBytesUp + up,
      down: counted.totalBytesDown + down,
      // A crash may have lost a little of what the operator's reset had seen.
      periodBytes: Math.max(0, counted.periodBytes + up + down),
      period,
      periodEndsAt: periodEnd(period, now),
    });
  }

  opened(session: MeteredSession, now: number): void {
    this.#open.set(session, { up: 0, down: 0 });
    this.#countsOf(session.accountId, dayOf(now)).sessions += 1;
  }

  /** Counts the rest of a session; one that is not open (any more) is passed over. */
  closed(session: MeteredSession, now: number): void {
    const seen = this.#open.get(session);
    if (!seen) return;
    this.#count(session, seen, now);
    this.#open.delete(session);
  }

  /** Counts what the open sessions have moved since the last time. */
  collect(now: number): void {
    for (const [session, seen] of this.#open) this.#count(session, seen, now);
  }

  /** What an account had used at the last `collect`. */
  used(accountId: string, now: number): CountedTraffic {
    const used = this.#used.get(accountId);
    if (!used) return { totalBytesUp: 0, totalBytesDown: 0, periodBytes: 0 };
    startAgainIfDue(used, now);
    return { totalBytesUp: used.up, totalBytesDown: used.down, periodBytes: used.periodBytes };
  }

  /** Hands over what is not yet written; the caller gives it back with `restore` if writing fails. */
  take(): TrafficOfDay[] {
    const taken = [...this.#unwritten].flatMap(([accountId, days]) => rows(accountId, days));
    this.#unwritten = new Map();
    return taken;
  }

  restore(taken: readonly TrafficOfDay[]): void {
    for (const { accountId, day, bytesUp, bytesDown, sessions } of taken) {
      const counts = this.#countsOf(accountId, day);
      counts.up += bytesUp;
      counts.down += bytesDown;
      counts.sessions += sessions;
    }
  }

  forget(accountId: string): void {
    this.#used.delete(accountId);
    this.#unwritten.delete(accountId);
  }

  #count(session: MeteredSession, seen: { up: number; down: number }, now: number): void {
    const up = session.bytesUp() - seen.up;
    const down = session.bytesDown() - seen.down;
    if (up === 0 && down === 0) return;
    seen.up += up;
    seen.down += down;
    const counts = this.#countsOf(session.accountId, dayOf(now));
    counts.up += up;
    counts.down += down;
    const used = this.#usedOf(session.accountId, now);
    used.up += up;
    used.down += down;
    used.periodBytes += up + down;
  }

  #usedOf(accountId: string, now: number): Used {
    let used = this.#used.get(accountId);
    if (!used) {
      const period = 'month';
      used = { up: 0, down: 0, periodBytes: 0, period, periodEndsAt: periodEnd(period, now) };
      this.#used.set(accountId, used);
    }
    startAgainIfDue(used, now);
    return used;
  }

  #unwrittenSum(accountId: string): { up: number; down: number } {
    let [up, down] = [0, 0];
    for (const day of this.#unwritten.get(accountId)?.values() ?? []) {
      up += day.up;
      down += day.down;
    }
    return { up, down };
  }

  #countsOf(accountId: string, day: number): Counts {
    const days = this.#unwritten.get(accountId) ?? new Map<number, Counts>();
    const counts = days.get(day) ?? { up: 0, down: 0, sessions: 0 };
    this.#unwritten.set(accountId, days.set(day, counts));
    return counts;
  }
}

function startAgainIfDue(used: Used, now: number): void {
  if (used.periodEndsAt === null || now < used.periodEndsAt) return;
  used.periodBytes = 0;
  used.periodEndsAt = periodEnd(used.period, now);
}

function rows(accountId: string, days: ReadonlyMap<number, Counts>): TrafficOfDay[] {
  return Array.from(days, ([day, { up, down, sessions }]) => ({
    accountId,
    day,
    bytesUp: up,
    bytesDown: down,
    sessions,
  }));
}
