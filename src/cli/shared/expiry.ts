// Parses expiry times of the command line.
import { parseDuration } from '../../config/units.js';
import { parseWireDate } from '../../core/wire-date.js';
import { CommandError } from './command.js';

/**
 * Parses `never`, a duration from now (`30d`), or a date in UTC. Returns ms since the epoch, or null for `never`.
 * @throws CommandError (2) for anything else
 */
export function parseExpiry(text: string, now: number): number | null {
  if (text === 'never') return null;
  const durationMs = parseDuration(text);
  const at = durationMs === null ? parseWireDate(text) : now + durationMs;
  if (at === null || at > LATEST_MS) {
    throw new CommandError(
      `Invalid time ${JSON.stringify(text)}. Use: never, 30d, 2026-12-31 or 2026-12-31T23:59:59 (UTC).`,
      2,
    );
  }
  return at;
}

/** The latest time that the account API can represent. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);
