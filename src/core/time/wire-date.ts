// The date format of the account API: ISO 8601 in UTC, to the second, without a zone designator.
import { MINUTE_MS, SECOND_MS } from './clock.js';

const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const TIME = String.raw`(\d\d):(\d\d):(\d\d)(?:\.\d+)?`;
const ZONE = String.raw`(?:Z|([+-])(\d\d)(?::?(\d\d))?)?`;
const WIRE_DATE = new RegExp(`^${DATE}(?:T${TIME}${ZONE})?$`);

const EARLIEST_MS = utc(1, 1, 1, 0, 0, 0);
const LATEST_MS = utc(9999, 12, 31, 23, 59, 59);

/** The valid dates, for error messages. */
export const WIRE_DATE_RANGE = '0001-01-01T00:00:00 to 9999-12-31T23:59:59 (UTC)';

/** Whether `ms` (milliseconds since the Unix epoch) is in the years 0001 to 9999 UTC, which the format can represent. */
export const isWireDate = (ms: number): boolean => ms >= EARLIEST_MS && ms < LATEST_MS + SECOND_MS;

/** The nearest representable time to `ms`, for values stored before such times were refused. */
export const toWireDate = (ms: number): number =>
  Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS + SECOND_MS - 1);

/**
 * Writes `ms` (milliseconds since the Unix epoch) as `yyyy-MM-ddTHH:mm:ss` in UTC, cut to the second.
 * Throws RangeError outside the years 0001 to 9999, which the format cannot represent.
 */
export function formatWireDate(ms: number): string {
  if (!isWireDate(ms)) throw new RangeError(`no wire date for ${ms} ms`);
  const date = new Date(ms);
  // A list contains three dates per account, and toISOString takes four times as long.
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const day = `${year}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  return `${day}T${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

/**
 * Parses a date into milliseconds since the Unix epoch, whole seconds. Accepted: `yyyy-MM-ddTHH:mm:ss` read as UTC, the
 * same with a fraction (cut off) and with `Z` or an offset (`+08:00`, `+0800`, `+08`), and `yyyy-MM-dd` as midnight UTC.
 * Returns null for anything else: other forms, days and times that do not exist (30 February, 24:00, second 60),
 * and times outside the years 0001 to 9999. Never uses local time.
 */
export function parseWireDate(text: string): number | null {
  const match = WIRE_DATE.exec(text);
  if (!match) return null;
  const number = (group: number) => Number(match[group] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const local = utc(year, month, day, hour, minute, second);
  if (!isCalendarDate(local, month, day)) return null;
  const [offsetHours, offsetMinutes] = [number(8), number(9)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * MINUTE_MS;
  const ms = match[7] === '-' ? local + offsetMs : local - offsetMs;
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? ms : null;
}

/** Like Date.UTC with months from 1, but years 0 to 99 mean what they say. */
function utc(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return date.getTime();
}

/** Date turns 30 February into a day in March: a changed month means that the date does not exist. */
function isCalendarDate(ms: number, month: number, day: number): boolean {
  const date = new Date(ms);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** @param number 0 to 59 */
const two = (number: number): string => TWO_DIGITS[number] ?? '';
