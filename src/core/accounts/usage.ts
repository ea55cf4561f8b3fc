// How much each account has moved: kept per day for the history, summed for its quota.
import {
  type CountedTraffic,
  dayOf,
  periodEnd,
  periodStart,
  type QuotaPeriod,
  type TrafficOfDay,
} from './limits.js';

/** What was used within one quota period. */
interface UsedInPeriod {
  /** null: there is no other period, before or after. */
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  bytes: number;
}

interface Used {
  up: number;
  down: number;
  readonly period: QuotaPeriod;
  current: UsedInPeriod;
  /** The one before it in time or, after the clock was set back, the one after it: it may come again. */
  other: UsedInPeriod | null;
}

interface Counts {
  up: number;
  down: number;
  sessions: number;
}

/** The traffic of every account in this process. What is not yet in the database waits here, by day. */
export class TrafficMeter {
  readonly #used = new Map<string, Used>();
  /** Accounts that the clock has taken back to a period of which the memory knows nothing. */
  #unknown = new Set<string>();
  #tickedAt = Number.NEGATIVE_INFINITY;
  #unwritten = new Map<string, Map<number, Counts>>();
  readonly #periodOf: (accountId: string) => QuotaPeriod;

  /** @param periodOf the period by which an account is counted from its first byte on */
  constructor(periodOf: (accountId: string) => QuotaPeriod) {
    this.#periodOf = periodOf;
  }

  /** Starts from what the database has counted of an account; what is not yet written is added. */
  load(accountId: string, period: QuotaPeriod, counted: CountedTraffic, now: number): void {
    const { up, down } = this.#unwrittenSum(accountId);
    const before = this.#used.get(accountId);
    const other = before && contains(before.current, now) ? before.other : (before?.current ?? null);
    this.#unknown.delete(accountId);
    this.#used.set(accountId, {
      up: counted.totalBytesUp + up,
      down: counted.totalBytesDown + down,
      period,
      // A crash may have lost a little of what the operator's reset had seen.
      current: periodAt(period, now, Math.max(0, counted.periodBytes + up + down)),
      other: before?.period === period ? other : null,
    });
  }

  /** Counts a session. */
  addSession(accountId: string, now: number): void {
    this.#countsOf(accountId, dayOf(now)).sessions += 1;
  }

  /** Counts what a session has moved. */
  addTraffic(accountId: string, up: number, down: number, now: number): void {
    const counts = this.#countsOf(accountId, dayOf(now));
    counts.up += up;
    counts.down += down;
    const used = this.#usedOf(accountId, now);
    used.up += up;
    used.down += down;
    used.current.bytes += up + down;
  }

  /** Counts what other nodes have counted and written. */
  addElsewhere(
    accountId: string,
    { day, bytesUp, bytesDown }: Pick<TrafficOfDay, 'day' | 'bytesUp' | 'bytesDown'>,
    now: number,
  ): void {
    const used = this.#usedOf(accountId, now);
    used.up += bytesUp;
    used.down += bytesDown;
    const { startsAt } = used.current;
    if (startsAt === null || day >= dayOf(startsAt)) used.current.bytes += bytesUp + bytesDown;
  }

  /** Looks at the clock: one that was set back takes accounts back to an earlier period. */
  tick(now: number): void {
    if (now < this.#tickedAt) for (const [id, used] of this.#used) this.#enterPeriod(id, used, now);
    this.#tickedAt = now;
  }

  /** What an account has used, as far as it was counted. */
  used(accountId: string, now: number): CountedTraffic {
    const used = this.#used.get(accountId);
    if (!used) return { totalBytesUp: 0, totalBytesDown: 0, periodBytes: 0 };
    this.#enterPeriod(accountId, used, now);
    return { totalBytesUp: used.up, totalBytesDown: used.down, periodBytes: used.current.bytes };
  }

  /** Accounts whose present period only the database knows: to be given to `load` again. */
  unknown(): string[] {
    return [...this.#unknown];
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
    this.#unknown.delete(accountId);
    this.#unwritten.delete(accountId);
  }

  #usedOf(accountId: string, now: number): Used {
    let used = this.#used.get(accountId);
    if (!used) {
      const period = this.#periodOf(accountId);
      used = { up: 0, down: 0, period, current: periodAt(period, now, 0), other: null };
      this.#used.set(accountId, used);
    }
    this.#enterPeriod(accountId, used, now);
    return used;
  }

  /** Counts within the period of `now` from here on: a new one from nothing, one that was left before from where it was. */
  #enterPeriod(accountId: string, used: Used, now: number): void {
    const { current, other } = used;
    if (contains(current, now)) return;
    used.other = current;
    if (other && contains(other, now)) {
      used.current = other;
      return;
    }
    used.current = periodAt(used.period, now, 0);
    if (current.startsAt !== null && now < current.startsAt) this.#unknown.add(accountId);
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

function periodAt(period: QuotaPeriod, now: number, bytes: number): UsedInPeriod {
  return { startsAt: periodStart(period, now), endsAt: periodEnd(period, now), bytes };
}

function contains({ startsAt, endsAt }: UsedInPeriod, now: number): boolean {
  return startsAt === null || endsAt === null || (now >= startsAt && now < endsAt);
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
