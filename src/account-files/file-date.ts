// Parses dates as people and spreadsheets write them, in the time zone of the file's author.
import { zonedTime } from '../core/time-zone.js';
import { isWireDate, parseWireDate } from '../core/wire-date.js';

const DATE = /^(\d{4})(?:-|\/|\.|年)(\d{1,2})(?:-|\/|\.|月)(\d{1,2})日?(?:\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;

/**
 * Parses a date into ms since the epoch; null for anything else. `2026-12-31T23:59:59`, the format of exported files, is UTC
 * unless it has an offset. `2026/12/31`, `2026-12-31 23:59`, `2026年12月31日` and similar formats are in `zone`.
 */
export function parseFileDate(text: string, zone: string): number | null {
  const given = text.normalize('NFKC').trim();
  const match = DATE.exec(given);
  if (!match) return parseWireDate(given);
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const two = (value: number | undefined) => String(value).padStart(2, '0');
  const utc = parseWireDate(
    `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`,
  );
  if (utc === null) return null;
  const at = zonedTime(utc, zone);
  return isWireDate(at) ? at : null;
}
