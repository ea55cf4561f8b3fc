// Values of options that several commands take.
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../config/units.js';
import { parseWireDate } from '../core/wire-date.js';

/** How many a list shows. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new InvalidArgumentError('It is a whole number from 1 to 1000.');
}

/** A moment that has passed, in ms since the epoch: so long ago (`24h`), or a date in UTC. */
export function readPast(text: string): number {
  const durationMs = parseDuration(text);
  const at = durationMs === null ? parseWireDate(text) : Date.now() - durationMs;
  if (at !== null) return at;
  throw new InvalidArgumentError('Use: 24h, 7d, 2026-11-20 or 2026-11-20T21:00:00 (UTC).');
}
