// Option values that several commands share.
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../config/units.js';
import { iso } from '../../core/clock.js';
import { isWireDate, parseWireDate } from '../../core/time/wire-date.js';
import { CommandError } from './command.js';

/** The `--limit` of a list. */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new InvalidArgumentError('Use a whole number from 1 to 1000.');
}

/** A time in the past, in ms since the epoch: an age (`24h`) or a date in UTC. */
export function parsePastTime(text: string): number {
  const durationMs = parseDuration(text);
  const at = durationMs === null ? parseWireDate(text) : Date.now() - durationMs;
  if (at !== null) return at;
  throw new InvalidArgumentError('Use: 24h, 7d, 2026-11-20 or 2026-11-20T21:00:00 (UTC).');
}

/**
 * Reads `never` (null), or a duration from now (`30d`) or a date in UTC as a time of /api/v1.
 * @throws CommandError (2) for anything else
 */
export function parseExpiry(text: string): string | null {
  if (text === 'never') return null;
  const durationMs = parseDuration(text);
  const at = durationMs === null ? parseWireDate(text) : Date.now() + durationMs;
  if (at !== null && isWireDate(at)) return iso(at);
  throw new CommandError(
    `Invalid time ${JSON.stringify(text)}. Use: never, 30d, 2026-12-31 or 2026-12-31T23:59:59 (UTC).`,
    2,
  );
}

/**
 * Returns what `--enable` and `--disable` say. @param command for the error: `account update`
 * @throws CommandError (2) when both are given, or nothing but `--json`
 */
export function requireChange(
  command: string,
  given: { readonly enable: boolean | undefined; readonly disable: boolean | undefined },
): boolean | undefined {
  if (given.enable && given.disable)
    throw new CommandError('--enable and --disable cannot be used together.', 2);
  if (Object.keys(given).every((name) => name === 'json'))
    throw new CommandError(`No change given. See: pulsegate ${command} --help`, 2);
  return given.enable ? true : given.disable ? false : undefined;
}
