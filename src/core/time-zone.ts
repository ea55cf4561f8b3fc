// Wall clocks of time zones, by their IANA names.
import { DAY_MS } from './clock.js';

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError for a name that is no zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
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
  // Few zones are ever asked for; names may come from outside.
  if (formats.size >= 100) formats.clear();
  formats.set(zone, made);
  return made;
}

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * The moment, in ms since the epoch, at which clocks in `zone` show what clocks in UTC show at `utcMs`. Where clocks are
 * set back and show it twice, the first of the two; where they are set forward and never show it, as long after the gap
 * began. Throws RangeError when there is no such zone.
 */
export function zonedTime(utcMs: number, zone: string): number {
  if (zone === 'UTC') return utcMs;
  const before = utcMs - offsetAt(utcMs - DAY_MS, zone);
  if (offsetAt(before, zone) === utcMs - before) return before;
  const after = utcMs - offsetAt(utcMs + DAY_MS, zone);
  return offsetAt(after, zone) === utcMs - after ? after : before;
}

/** What clocks in `zone` show at a moment, as the moment at which clocks in UTC show the same. */
export function shownIn(zone: string, at: number): number {
  return zone === 'UTC' ? at : at + offsetAt(at, zone);
}

/** By how many ms the clocks of `zone` are ahead of UTC at a moment. */
function offsetAt(at: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(at);
  const number = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const isBefore = parts.some((part) => part.type === 'era' && part.value.startsWith('B'));
  const shown = new Date(0);
  shown.setUTCFullYear(isBefore ? 1 - number('year') : number('year'), number('month') - 1, number('day'));
  shown.setUTCHours(number('hour'), number('minute'), number('second'));
  return shown.getTime() - Math.floor(at / 1000) * 1000;
}
