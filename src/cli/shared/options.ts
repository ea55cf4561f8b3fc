// Parsers for option values that several commands share.
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../config/units.js';
import { parseWireDate } from '../../core/wire-date.js';

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
