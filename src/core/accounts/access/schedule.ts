// Schedules: the days and hours at which an account may be used, as a text such as `mon-fri 08:00-23:00; sat,sun 00:00-24:00`.
// Times are local times of the operator's time zone, also on days on which daylight saving time begins or ends.
import { DAY_MS, MINUTE_MS } from '../../time/clock.js';
import { shownIn } from '../../time/time-zone.js';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-01 was a Thursday: three days after a Monday. */
const EPOCH_WEEKDAY = 3;

export const MAX_SCHEDULE_CHARS = 255;
export const SCHEDULE_RULE =
  'days and times such as mon-fri 08:00-23:00; sat,sun 00:00-24:00 (mon tue wed thu fri sat sun), at most 255 characters';

/** From `start` to just before `end`, in ms since Monday 00:00. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

interface Schedule {
  /** In canonical form, as it is stored. */
  readonly text: string;
  /** Sorted, with a gap between neighbours. */
  readonly intervals: readonly Interval[];
}

/**
 * Parses a schedule: entries separated by semicolons, each with days and times. An interval whose end is not after its start ends
 * on the next day. Null: the text is not a schedule.
 */
export function parseSchedule(text: string): Schedule | null {
  if (text.length > MAX_SCHEDULE_CHARS) return null;
  const entries = text
    .toLowerCase()
    .split(/[;；\n]/)
    .filter((entry) => entry.trim() !== '')
    .map(parseEntry);
  const read = entries.filter((entry) => entry !== null);
  const stored = read.map((entry) => entry.text).join('; ');
  // The canonical form can be longer than the input.
  if (read.length === 0 || read.length < entries.length || stored.length > MAX_SCHEDULE_CHARS) return null;
  return { text: stored, intervals: merged(read.flatMap((entry) => entry.intervals)) };
}

/** `mon-fri,sun 08:00-12:00,14:00-23:00` */
function parseEntry(text: string): Schedule | null {
  const [, days = '', times = ''] = /^([a-z][a-z,\s-]*?)\s+(\d.*)$/s.exec(text.trim()) ?? [];
  const groups = parts(days).map(parseDays);
  const spans = parts(times).map(parseTimes);
  if (groups.length === 0 || spans.length === 0 || groups.includes(null) || spans.includes(null)) return null;
  const named = groups.filter((group) => group !== null);
  const timed = spans.filter((span) => span !== null);
  return {
    text: `${named.map((group) => group.text).join(',')} ${timed.map((span) => span.text).join(',')}`,
    intervals: named.flatMap((group) =>
      group.days.flatMap((day) => timed.flatMap((span) => atDay(day, span))),
    ),
  };
}

/** The canonical form of a valid schedule; null for a blank text, which means no schedule. */
export const storedSchedule = (text: string | null): string | null =>
  text === null ? null : (parseSchedule(text)?.text ?? null);

/** Whether `text` is a valid schedule; also true for null and a blank text, which mean no schedule. */
export const isSchedule = (text: string | null): boolean =>
  text === null || text.trim() === '' || parseSchedule(text) !== null;

const parts = (text: string): string[] =>
  text
    .replace(/\s*([,-])\s*/g, '$1')
    .split(/[,\s]/)
    .filter((part) => part !== '');

/** `mon`, or `fri-mon`, which includes Sunday. */
function parseDays(text: string): { readonly text: string; readonly days: readonly number[] } | null {
  const [first = '', last = first, ...more] = text.split('-');
  const [from, to] = [first, last].map((name) => (DAYS as readonly string[]).indexOf(name));
  if (from === undefined || to === undefined || from < 0 || to < 0 || more.length > 0) return null;
  const count = ((to - from + 7) % 7) + 1;
  return {
    text: from === to ? first : `${first}-${last}`,
    days: Array.from({ length: count }, (_, i) => (from + i) % 7),
  };
}

/** `08:00-23:00` in ms since midnight. */
function parseTimes(text: string): (Interval & { readonly text: string }) | null {
  const [start, end, ...more] = text.split('-').map(parseTime);
  if (start == null || end == null || more.length > 0 || start === end || start === DAY_MS) return null;
  return { text: `${clock(start)}-${clock(end)}`, start, end: end > start ? end : end + DAY_MS };
}

function parseTime(text: string): number | null {
  const [, hours, minutes] = /^(\d{1,2}):(\d\d)$/.exec(text) ?? [];
  if (hours === undefined || Number(minutes) > 59) return null;
  const ms = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return ms <= DAY_MS ? ms : null;
}

function clock(ms: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = ms / MINUTE_MS;
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The interval on one day of the week. An interval that passes the end of Sunday is split: its rest begins on Monday at 00:00. */
function atDay(day: number, { start, end }: Interval): Interval[] {
  const [from, to] = [day * DAY_MS + start, day * DAY_MS + end];
  return to <= WEEK_MS
    ? [{ start: from, end: to }]
    : [
        { start: from, end: WEEK_MS },
        { start: 0, end: to - WEEK_MS },
      ];
}

function merged(intervals: readonly Interval[]): Interval[] {
  const kept: Interval[] = [];
  for (const next of [...intervals].sort((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (last && next.start <= last.end)
      kept[kept.length - 1] = { start: last.start, end: Math.max(last.end, next.end) };
    else kept.push(next);
  }
  return kept;
}

function isOpenAt({ intervals }: Schedule, at: number, zone: string): boolean {
  const time = timeOfWeek(at, zone);
  return intervals.some(({ start, end }) => start <= time && time < end);
}

/** The local time in `zone`, in ms since Monday 00:00. */
function timeOfWeek(at: number, zone: string): number {
  const local = shownIn(zone, at) + EPOCH_WEEKDAY * DAY_MS;
  return ((local % WEEK_MS) + WEEK_MS) % WEEK_MS;
}

/** More than the boundaries of two weeks and the changes of a zone's offset in them. */
const MAX_STEPS = 2_000;

/** When the schedule opens or closes next after `at`, in ms since the epoch; null: never. */
export function nextChange(schedule: Schedule, at: number, zone: string): number | null {
  const isOpen = isOpenAt(schedule, at, zone);
  const boundaries = schedule.intervals.flatMap(({ start, end }) => [start, end % WEEK_MS]);
  const offset = (time: number) => shownIn(zone, time) - time;
  const end = at + 2 * WEEK_MS;
  for (let [from, step] = [at, 0]; from < end && step < MAX_STEPS; step += 1) {
    const time = timeOfWeek(from, zone);
    const waits = boundaries.map((boundary) => (boundary - time + WEEK_MS) % WEEK_MS || WEEK_MS);
    let next = from + Math.min(...waits);
    // The offset changes before the boundary: continue from that change.
    if (offset(next) !== offset(from)) next = offsetChange(from, next, offset);
    if (isOpenAt(schedule, next, zone) !== isOpen) return next;
    from = next;
  }
  return null;
}

/** The first ms after `from` with the offset of `to`. */
function offsetChange(from: number, to: number, offset: (at: number) => number): number {
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offset(middle) === offset(from)) before = middle;
    else after = middle;
  }
  return after;
}

export type Schedules = ReturnType<typeof createSchedules>;

interface Window {
  readonly isOpen: boolean;
  readonly from: number;
  readonly until: number | null;
}

/** Most cached windows, one for each text of a schedule. */
const MAX_WINDOWS = 10_000;

/**
 * Evaluates schedules, given as texts, in one time zone. Caches each result until the schedule changes next, so that a query every
 * second is cheap. Evaluates again when the clock was set back.
 */
export function createSchedules(zone: string) {
  const windows = new Map<string, Window>();

  function windowOf(text: string, at: number): Window {
    const known = windows.get(text);
    if (known && known.from <= at && (known.until === null || at < known.until)) return known;
    const schedule = parseSchedule(text);
    // An invalid schedule allows no time.
    const isOpen = schedule !== null && isOpenAt(schedule, at, zone);
    const window = { isOpen, from: at, until: schedule && nextChange(schedule, at, zone) };
    if (windows.size >= MAX_WINDOWS) windows.clear();
    windows.set(text, window);
    return window;
  }

  return {
    /** Whether the schedule allows this time. No schedule (null) allows every time. */
    isOpen: (schedule: string | null, at: number): boolean =>
      schedule === null || windowOf(schedule, at).isOpen,
    /** When the schedule opens or closes next; null: never. */
    nextChange: (schedule: string | null, at: number): number | null =>
      schedule === null ? null : windowOf(schedule, at).until,
  };
}
