// Converts between UTC and local times of IANA time zones.
import { succeeds } from '../errors.js';
import { DAY_MS } from './clock.js';

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError for an unknown zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  // Bounded, because clients choose the names.
  if (formats.size >= 100) formats.clear();
  formats.set(zone, format);
  return format;
}

export const isTimeZone = (name: string): boolean => succeeds(() => formatOf(name));

/**
 * Interprets `utcMs`, a local time written as if it were UTC, in `zone`; returns ms since the epoch. For an ambiguous time (clocks
 * set back) returns the first one; for a nonexistent time (clocks set forward) moves it past the gap. Throws RangeError for an unknown
 * zone.
 */
export function zonedTime(utcMs: number, zone: string): number {
  if (zone === 'UTC') return utcMs;
  const before = utcMs - offsetAt(utcMs - DAY_MS, zone);
  if (offsetAt(before, zone) === utcMs - before) return before;
  const after = utcMs - offsetAt(utcMs + DAY_MS, zone);
  return offsetAt(after, zone) === utcMs - after ? after : before;
}

/** The local time in `zone` at `at`, written as if it were UTC; the inverse of `zonedTime`. */
export const shownIn = (zone: string, at: number): number => (zone === 'UTC' ? at : at + offsetAt(at, zone));

/** The UTC offset of `zone` at `at`, in ms. */
function offsetAt(at: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(at);
  const number = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const isBefore = parts.some((part) => part.type === 'era' && part.value.startsWith('B'));
  const shown = new Date(0);
  shown.setUTCFullYear(isBefore ? 1 - number('year') : number('year'), number('month') - 1, number('day'));
  shown.setUTCHours(number('hour'), number('minute'), number('second'));
  return shown.getTime() - Math.floor(at / 1000) * 1000;
}
