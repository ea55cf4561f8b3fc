// Days and quota periods by the operator's time zone (`timeZone`). The zone may change: the calendar keeps since when each one counts.
// A running period keeps its start then, and ends at the first boundary of the new zone, so that nothing is counted twice or forgiven.
import { DAEMON, differences } from '../../audit/audit.js';
import { createAuditedSetting, type SettingStore } from '../../settings/setting.js';
import { DAY_MS } from '../../time/clock.js';
import { shownIn, zonedTime } from '../../time/time-zone.js';
import type { QuotaPeriod } from './limits.js';

/** A zone, and since when days are counted by it, in ms since the epoch. */
interface ZoneSince {
  readonly zone: string;
  readonly since: number;
}

/** Days before the first zone of an operator are UTC days. */
const UTC: ZoneSince = { zone: 'UTC', since: Number.NEGATIVE_INFINITY };

/**
 * A day has a number: the days from 1970-01-01 to its date, plus this for each zone before its own. So days are in order, and a date
 * that was counted in two zones is two days. The days of the first zone are UTC days, as older versions count.
 */
const DAYS_PER_ZONE = 1_000_000;

/** 1970-01-01 was a Thursday: weeks begin on Monday, three days before it. */
const MONDAY_OFFSET_DAYS = 3;

type Ending = Exclude<QuotaPeriod, 'never'>;

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Known<Value> extends Span {
  readonly value: Value;
}

const NOTHING_KNOWN: Known<number> = { from: 0, to: 0, value: 0 };

/** All times are ms since the epoch. */
export class Calendar {
  #zones: readonly ZoneSince[] = [UTC];
  /** The last answers: almost all questions are about now. */
  readonly #spans = new Map<Ending, Known<Span>>();
  #day = NOTHING_KNOWN;

  constructor(zones: readonly ZoneSince[] = []) {
    this.setZones(zones);
  }

  /** @param zones the oldest first; UTC comes before them */
  setZones(zones: readonly ZoneSince[]): void {
    this.#zones = [UTC, ...zones];
    this.#spans.clear();
    this.#day = NOTHING_KNOWN;
  }

  get zone(): string {
    return this.#zones.at(-1)?.zone ?? UTC.zone;
  }

  dayOf(at: number): number {
    if (!holds(this.#day, at)) {
      const index = this.#indexAt(at);
      const { zone } = this.#zoneOf(index);
      const date = dateAt(zone, at);
      const span = { from: zonedTime(date * DAY_MS, zone), to: zonedTime((date + 1) * DAY_MS, zone) };
      this.#day = this.#known(index, span, index * DAYS_PER_ZONE + date);
    }
    return this.#day.value;
  }

  startOfDay(day: number): number {
    const { zone, since } = this.#zoneOf(Math.floor(day / DAYS_PER_ZONE));
    return Math.max(since, zonedTime((day % DAYS_PER_ZONE) * DAY_MS, zone));
  }

  /** The date of a day, and the zone in which it is counted. */
  dateOf(day: number): { readonly date: string; readonly zone: string } {
    const date = new Date((day % DAYS_PER_ZONE) * DAY_MS).toISOString().slice(0, 10);
    return { date, zone: this.#zoneOf(Math.floor(day / DAYS_PER_ZONE)).zone };
  }

  /** The numbers of the days from one date (`2026-11-20`) to another, both inside, in each zone that has counted. */
  daysBetween(from: string, until: string): (readonly [first: number, last: number])[] {
    const [first = 0, last = 0] = [from, until].map((date) => Date.parse(date) / DAY_MS);
    return this.#zones.map((_, index) => [index * DAYS_PER_ZONE + first, index * DAYS_PER_ZONE + last]);
  }

  /** Start of the period that contains `at`; null when the period never ends. */
  periodStart(period: QuotaPeriod, at: number): number | null {
    return period === 'never' ? null : this.#span(period, at).from;
  }

  /** Start of the next period; null when the period never ends. */
  periodEnd(period: QuotaPeriod, at: number): number | null {
    return period === 'never' ? null : this.#span(period, at).to;
  }

  /** The first day of the period; null when the period includes all days. */
  firstDay(period: QuotaPeriod, at: number): number | null {
    return period === 'never' ? null : this.dayOf(this.#span(period, at).from);
  }

  /** The time since which a quota counts: the start of the period or a later reset; null: always. */
  countedSince(period: QuotaPeriod, resetAt: number | null, at: number): number | null {
    const start = this.periodStart(period, at);
    if (resetAt === null) return start;
    return start === null ? resetAt : Math.max(start, resetAt);
  }

  /** The number of periods that the time from `from` up to and including `to` touches. */
  periods(period: Ending, from: number, to: number): number {
    return indexAt(period, this.zone, to) - indexAt(period, this.zone, from) + 1;
  }

  /** The most periods that a number of days can touch, whenever it begins: 30 days touch three months from January 30. */
  mostPeriods(period: Ending, days: number): number {
    const ms = days * DAY_MS + clockShift(this.zone);
    if (period !== 'month') return Math.ceil(ms / (period === 'week' ? 7 * DAY_MS : DAY_MS)) + 1;
    let most = 0;
    // From the last moment of each month of four years.
    for (let month = 1; month <= 48; month += 1) {
      const start = Date.UTC(2025, month) - 1;
      most = Math.max(most, indexAt('month', 'UTC', start + ms - 1) - indexAt('month', 'UTC', start) + 1);
    }
    return most;
  }

  #span(period: Ending, at: number): Span {
    let known = this.#spans.get(period);
    if (!known || !holds(known, at)) {
      const index = this.#indexAt(at);
      const span = { from: this.#startIn(index, period, at), to: this.#endIn(index, period, at) };
      known = this.#known(index, span, span);
      this.#spans.set(period, known);
    }
    return known.value;
  }

  /** A period that began by an earlier zone keeps its start. */
  #startIn(index: number, period: Ending, at: number): number {
    const { zone, since } = this.#zoneOf(index);
    const start = zonedTime(boundary(period, dateAt(zone, at), 0), zone);
    return index === 0 || start >= since ? start : this.#startIn(index - 1, period, since);
  }

  /** A period in which the zone changes ends at the first boundary of the new one. */
  #endIn(index: number, period: Ending, at: number): number {
    const { zone } = this.#zoneOf(index);
    const end = zonedTime(boundary(period, dateAt(zone, at), 1), zone);
    const next = this.#zones[index + 1];
    return next && end > next.since ? this.#endIn(index + 1, period, next.since) : end;
  }

  /** `value` holds in `span` as long as the zone counts. */
  #known<Value>(index: number, { from, to }: Span, value: Value): Known<Value> {
    const next = this.#zones[index + 1]?.since ?? Infinity;
    return { from: Math.max(from, this.#zoneOf(index).since), to: Math.min(to, next), value };
  }

  #indexAt(at: number): number {
    return this.#zones.findLastIndex(({ since }) => at >= since);
  }

  #zoneOf(index: number): ZoneSince {
    return this.#zones[index] ?? UTC;
  }
}

const holds = ({ from, to }: Span, at: number): boolean => at >= from && at < to;

/** The date in `zone` at `at`, in days since 1970-01-01. A day never begins again, also when clocks are set back over midnight. */
function dateAt(zone: string, at: number): number {
  const date = Math.floor(shownIn(zone, at) / DAY_MS);
  return zonedTime((date + 1) * DAY_MS, zone) <= at ? date + 1 : date;
}

/** The date on which the period of `date` begins, or the one after it (`on`: 1), as ms since 1970-01-01. */
function boundary(period: Ending, date: number, on: 0 | 1): number {
  if (period === 'day') return (date + on) * DAY_MS;
  if (period === 'week') return (date - modulo(date + MONDAY_OFFSET_DAYS, 7) + on * 7) * DAY_MS;
  const shown = new Date(date * DAY_MS);
  return Date.UTC(shown.getUTCFullYear(), shown.getUTCMonth() + on);
}

function indexAt(period: Ending, zone: string, at: number): number {
  const date = dateAt(zone, at);
  if (period === 'day') return date;
  if (period === 'week') return Math.floor((date + MONDAY_OFFSET_DAYS) / 7);
  const shown = new Date(date * DAY_MS);
  return shown.getUTCFullYear() * 12 + shown.getUTCMonth();
}

/** By how much the clocks of a zone are set forward and back within a year, in ms. */
function clockShift(zone: string): number {
  const offsets = Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month)).map(
    (at) => shownIn(zone, at) - at,
  );
  return Math.max(...offsets) - Math.min(...offsets);
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

/** @param calendar follows the setting */
export function createTimeZonesSetting(store: SettingStore, calendar: Calendar) {
  const zoneOf = (zones: readonly ZoneSince[]) => zones.at(-1)?.zone ?? 'UTC';
  const setting = createAuditedSetting<readonly ZoneSince[]>({
    store,
    key: 'days.timeZones',
    name: 'time-zone',
    initial: [],
    audited: (before, after) => differences({ timeZone: zoneOf(before) }, { timeZone: zoneOf(after) }),
  });
  setting.onChanged((zones) => calendar.setZones(zones));
  return {
    key: setting.key,
    reload: setting.reload,

    /** Calls `listener` with the zone when this or another process has entered one. */
    onEntered: (listener: (zone: string) => void): void => setting.onChanged(() => listener(calendar.zone)),

    /** Counts days by `zone` from `since` on, in ms since the epoch. Does nothing when they are counted by it already. */
    async enter(zone: string, since: number): Promise<void> {
      // Never before an earlier one, also when the clock was set back.
      const next = (zones: readonly ZoneSince[]) => ({
        zone,
        since: Math.max(since, zones.at(-1)?.since ?? since),
      });
      await setting.save((zones) => [...zones, next(zones)], DAEMON);
    },
  };
}
