// Counts the traffic of each account per day for the history, and per period for its quota.
import { getOrAdd } from '../../maps.js';
import type { Session } from '../../sessions/session.js';
import type { Calendar } from './calendar.js';
import type { CountedTraffic, QuotaPeriod, TrafficOfDay, TrafficPart } from './limits.js';

interface UsedInPeriod {
  /** null: there is no other period, before or after. */
  readonly startsAt: number | null;
  bytes: number;
}

interface Used {
  up: number;
  down: number;
  readonly period: QuotaPeriod;
  current: UsedInPeriod;
  /** The previous period or, after the clock was set back, the next one, which may become current again. */
  other: UsedInPeriod | null;
}

export interface ByteCount {
  up: number;
  down: number;
}

interface Counts extends ByteCount {
  sessions: number;
  readonly game: Map<string, ByteCount>;
  readonly exit: Map<string, ByteCount>;
}

/** Stands for all games of an account beyond the number that a day counts apart: clients choose GameIDs. No GameID is white space. */
export const OTHER_GAMES = ' ';

/** The traffic of every account in this process. Keeps unwritten traffic by day. */
export class TrafficMeter {
  readonly #used = new Map<string, Used>();
  /** Accounts whose current period is unknown because the clock was set back. */
  #unknown = new Set<string>();
  #tickedAt = Number.NEGATIVE_INFINITY;
  #unwritten = new Map<string, Map<number, Counts>>();

  constructor(
    private readonly periodOf: (accountId: string) => QuotaPeriod,
    private readonly calendar: Calendar,
    private readonly maxGames: number,
  ) {}

  /** Starts from the sums of the database, and adds unwritten traffic. */
  load(accountId: string, period: QuotaPeriod, counted: CountedTraffic, now: number): void {
    const { up, down } = this.#unwrittenSum(accountId);
    const before = this.#used.get(accountId);
    const current = this.#periodAt(period, now, Math.max(0, counted.periodBytes + up + down));
    const isSame = before?.current.startsAt === current.startsAt;
    const other = isSame ? before.other : (before?.current ?? null);
    this.#unknown.delete(accountId);
    this.#used.set(accountId, {
      up: counted.totalBytesUp + up,
      down: counted.totalBytesDown + down,
      period,
      // A crash may have lost traffic that the reset of the operator already counted.
      current,
      other: before?.period === period ? other : null,
    });
  }

  addSession(accountId: string, now: number): void {
    this.#countsOf(accountId, this.calendar.dayOf(now)).sessions += 1;
  }

  /** @param by undefined: nothing is known of it */
  addTraffic(
    accountId: string,
    up: number,
    down: number,
    now: number,
    by?: Pick<Session, 'gameId' | 'exit'>,
  ): void {
    const counts = this.#countsOf(accountId, this.calendar.dayOf(now));
    counts.up += up;
    counts.down += down;
    const { game, exit } = counts;
    const isOther = game.size >= this.maxGames && !game.has(by?.gameId ?? '');
    if (by?.gameId) addBytes(game, isOther ? OTHER_GAMES : by.gameId, up, down);
    if (by?.exit) addBytes(exit, by.exit, up, down);
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
    if (startsAt === null || day >= this.calendar.dayOf(startsAt)) used.current.bytes += bytesUp + bytesDown;
  }

  /** Moves accounts to an earlier period when the clock was set back. */
  tick(now: number): void {
    if (now < this.#tickedAt) for (const [id, used] of this.#used) this.#enterPeriod(id, used, now);
    this.#tickedAt = now;
  }

  used(accountId: string, now: number): CountedTraffic {
    const used = this.#used.get(accountId);
    if (!used) return { totalBytesUp: 0, totalBytesDown: 0, periodBytes: 0 };
    this.#enterPeriod(accountId, used, now);
    return { totalBytesUp: used.up, totalBytesDown: used.down, periodBytes: used.current.bytes };
  }

  /** Accounts whose usage of the current period must be loaded from the database again. */
  unknown(): string[] {
    return [...this.#unknown];
  }

  /** Takes the unwritten traffic. The caller writes it before it loads sums. */
  take(): TrafficOfDay[] {
    const taken = [...this.#unwritten].flatMap(([accountId, days]) => rows(accountId, days));
    this.#unwritten = new Map();
    return taken;
  }

  forget(accountId: string): void {
    this.#used.delete(accountId);
    this.#unknown.delete(accountId);
    this.#unwritten.delete(accountId);
  }

  #usedOf(accountId: string, now: number): Used {
    const used = getOrAdd(this.#used, accountId, () => {
      const period = this.periodOf(accountId);
      return { up: 0, down: 0, period, current: this.#periodAt(period, now, 0), other: null };
    });
    this.#enterPeriod(accountId, used, now);
    return used;
  }

  /** Switches to the period of `now`: a new period starts at zero, the other known period continues. */
  #enterPeriod(accountId: string, used: Used, now: number): void {
    const { current, other } = used;
    const startsAt = this.calendar.periodStart(used.period, now);
    if (current.startsAt === startsAt) return;
    used.other = current;
    if (other?.startsAt === startsAt) {
      used.current = other;
      return;
    }
    used.current = this.#periodAt(used.period, now, 0);
    if (current.startsAt !== null && now < current.startsAt) this.#unknown.add(accountId);
  }

  #periodAt(period: QuotaPeriod, now: number, bytes: number): UsedInPeriod {
    return { startsAt: this.calendar.periodStart(period, now), bytes };
  }

  #unwrittenSum(accountId: string): ByteCount {
    let [up, down] = [0, 0];
    for (const day of this.#unwritten.get(accountId)?.values() ?? []) {
      up += day.up;
      down += day.down;
    }
    return { up, down };
  }

  #countsOf(accountId: string, day: number): Counts {
    const days = getOrAdd(this.#unwritten, accountId, () => new Map<number, Counts>());
    return getOrAdd(days, day, () => ({ up: 0, down: 0, sessions: 0, game: new Map(), exit: new Map() }));
  }
}

export function addBytes(counts: Map<string, ByteCount>, key: string, up: number, down: number): void {
  const counted = getOrAdd(counts, key, () => ({ up: 0, down: 0 }));
  counted.up += up;
  counted.down += down;
}

function rows(accountId: string, days: ReadonlyMap<number, Counts>): TrafficOfDay[] {
  return Array.from(days, ([day, counts]) => ({
    accountId,
    day,
    bytesUp: counts.up,
    bytesDown: counts.down,
    sessions: counts.sessions,
    parts: [...partsOf('game', counts), ...partsOf('exit', counts)],
  }));
}

const partsOf = (kind: TrafficPart['kind'], counts: Counts): TrafficPart[] =>
  Array.from(counts[kind], ([name, { up, down }]) => ({ kind, name, bytesUp: up, bytesDown: down }));
