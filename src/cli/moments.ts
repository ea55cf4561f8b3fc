// Moments as people give them on the command line.
import { parseDuration } from '../config/units.js';
import { parseWireDate } from '../core/wire-date.js';
import { CommandError } from './command.js';

/**
 * `never`, a duration from now (`30d`), or a date in UTC, as milliseconds since the epoch; null is never.
 * @throws CommandError (2) for anything else
 */
export function parseExpiry(text: string, now: number): number | null {
  if (text === 'never') return null;
  const durationMs = parseDuration(text);
  const at = durationMs === null ? parseWireDate(text) : now + durationMs;
  if (at === null || at > LATEST_MS) {
    throw new CommandError(
      `${JSON.stringify(text)} is no moment. Use: never, 30d, 2026-12-31 or 2026-12-31T23:59:59 (UTC).`,
      2,
    );
  }
  return at;
}

/** The last moment that the account API can write. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);
