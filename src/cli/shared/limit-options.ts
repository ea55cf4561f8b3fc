// Limits as options of commands: `--max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month`.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseSize } from '../../config/units.js';
import { type AccountLimits, QUOTA_PERIODS, type QuotaPeriod } from '../../core/accounts/usage/limits.js';

/** The limits that accounts and plans have. */
export function withLimitOptions(command: Command): Command {
  return command
    .option('--max-sessions <n>', 'maximum concurrent sessions', parseCount)
    .option('--max-addresses <n>', 'maximum client addresses at the same time', parseCount)
    .option('--rate-up <rate>', 'rate from the client, over all sessions: 512KiB/s', parseRate)
    .option('--rate-down <rate>', 'rate to the client, over all sessions: 1MiB/s', parseRate)
    .option('--quota <size>', 'traffic per period, up and down together: 50GiB', parseByteSize)
    .addOption(new Option('--quota-period <period>', 'when usage resets').choices([...QUOTA_PERIODS]));
}

/** Removes a limit. A string, because commander treats null as a missing value. */
export const NONE = 'none';

export interface LimitOptions {
  maxSessions?: number | typeof NONE;
  maxAddresses?: number | typeof NONE;
  rateUp?: number | typeof NONE;
  rateDown?: number | typeof NONE;
  quota?: number | typeof NONE;
  quotaPeriod?: QuotaPeriod;
  egressClass?: string;
}

/** Null removes a limit. Limits without an option are absent. */
export function toLimits(options: LimitOptions): Partial<AccountLimits> {
  const change = {
    maxSessions: options.maxSessions,
    maxClientAddresses: options.maxAddresses,
    bytesPerSecondUp: options.rateUp,
    bytesPerSecondDown: options.rateDown,
    quotaBytes: options.quota,
    quotaPeriod: options.quotaPeriod,
    egressClass: options.egressClass,
  };
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === NONE ? null : value]));
}

export function parseCount(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('Use a positive whole number, or none.');
}

export function parseByteSize(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const bytes = parseSize(text);
  if (bytes !== null && bytes >= 1) return bytes;
  throw new InvalidArgumentError('Use a size such as 500MiB or 50GiB, or none.');
}

function parseRate(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const bytes = parseSize(text.replace(/\/s$/, ''));
  if (bytes !== null && bytes >= 1) return bytes;
  throw new InvalidArgumentError('Use a rate such as 512KiB/s or 1MiB/s, or none.');
}
