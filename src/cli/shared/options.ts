// What options of several commands are read as, and the limits of accounts as options: `--max-sessions 4 --rate-down 1MiB/s
// --quota 50GiB --quota-period month`. What commands read and show of limits is made from one description of each.
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration, parseSize } from '../../config/units.js';
import { MAX_PER_MINUTE, PER_MINUTE } from '../../core/accounts/fields/kinds.js';
import type { PlanLimits } from '../../core/accounts/plans/plans.js';
import { type AccountLimits, QUOTA_PERIODS } from '../../core/accounts/usage/limits.js';
import { iso } from '../../core/clock.js';
import { isWireDate, parseWireDate } from '../../core/time/wire-date.js';
import { CommandError } from './command.js';
import { formatBytes } from './table.js';

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

/** Removes a limit. */
export const NONE = 'none';

export const textOrNone = (text: string) => (text === NONE ? null : text);

const orNone =
  (parse: (text: string) => number | null, expected: string, min = 1) =>
  (text: string) => {
    if (text === NONE) return null;
    const value = parse(text);
    if (value !== null && value >= min) return value;
    throw new InvalidArgumentError(`Use ${expected}, or none.`);
  };
export const parseCount = orNone(
  (text) => (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null),
  'a positive whole number',
);
export const parseByteSize = orNone(parseSize, 'a size such as 500MiB or 50GiB');
const parseRate = orNone((text) => parseSize(text.replace(/\/s$/, '')), 'a rate such as 512KiB/s or 1MiB/s');

const parsePerMinute = orNone(
  PER_MINUTE.ofCell,
  `a whole number from 0 (any number) to ${MAX_PER_MINUTE}`,
  0,
);

/** A limit as an option. */
interface LimitOption<Name extends keyof AccountLimits, Value = NonNullable<AccountLimits[Name]>> {
  readonly limit: Name;
  readonly help: string;
  /** Left out: the text itself, which is one of `choices` if there are any. */
  readonly read?: (text: string) => Value | null;
  readonly choices?: readonly string[];
  /** In place of a value; left out: `none`. */
  readonly none?: string;
  /** Left out: the value as it is. */
  amount?(value: Value): string;
  /** With its noun, in the line of a plan. Left out: not there. */
  words?(value: Value, limits: PlanLimits): string;
}
type AnyLimitOption = { [Name in keyof AccountLimits]: LimitOption<Name> }[keyof AccountLimits];

const rate = <Name extends string>(limit: Name, direction: 'up' | 'down', help: string) => {
  const amount = (bytes: number): string => `${formatBytes(bytes)}/s`;
  const words = (bytes: number): string => `${amount(bytes)} ${direction}`;
  return { limit, help, read: parseRate, amount, words };
};

const perMinute = <Name extends string>(limit: Name, noun: string, what: string) => ({
  limit,
  help: `${what} a minute; 0: any number; none: as egress class or configuration say`,
  read: parsePerMinute,
  none: 'as configured',
  amount: (n: number) => (n === 0 ? 'any number' : String(n)),
  words: (n: number) => `${n === 0 ? 'any number of' : n} ${noun} per minute`,
});

export const PLAN_LIMITS = {
  '--max-sessions <n>': {
    limit: 'maxSessions',
    help: 'maximum concurrent sessions',
    read: parseCount,
    words: (n: number) => `${n} ${n === 1 ? 'session' : 'sessions'}`,
  },
  '--max-addresses <n>': {
    limit: 'maxClientAddresses',
    help: 'maximum client addresses at the same time',
    read: parseCount,
    words: (n: number) => `${n} ${n === 1 ? 'address' : 'addresses'}`,
  },
  '--rate-up <rate>': rate('bytesPerSecondUp', 'up', 'rate from the client, over all sessions: 512KiB/s'),
  '--rate-down <rate>': rate('bytesPerSecondDown', 'down', 'rate to the client, over all sessions: 1MiB/s'),
  '--quota <size>': {
    limit: 'quotaBytes',
    help: 'traffic per period, up and down together: 50GiB',
    read: parseByteSize,
    amount: formatBytes,
    words: (bytes: number, { quotaPeriod: period }: PlanLimits) =>
      `${formatBytes(bytes)} ${period === 'never' ? 'in total' : `per ${period}`}`,
  },
  '--quota-period <period>': {
    limit: 'quotaPeriod',
    help: 'when usage resets',
    choices: QUOTA_PERIODS,
  },
  '--connections-per-minute <n>': perMinute('connectionsPerMinute', 'connections', 'new connections'),
  '--destinations-per-minute <n>': perMinute(
    'destinationsPerMinute',
    'destinations',
    'different destinations',
  ),
  '--lookups-per-minute <n>': perMinute('lookupsPerMinute', 'lookups', 'names to look up'),
} as const satisfies Record<string, AnyLimitOption>;

export const ACCOUNT_LIMITS = {
  ...PLAN_LIMITS,
  '--egress-class <name>': {
    limit: 'egressClass',
    help: 'a class of egress.classes in the configuration',
    read: textOrNone,
  },
} as const satisfies Record<string, AnyLimitOption>;

const OPTIONS = Object.entries<AnyLimitOption>(ACCOUNT_LIMITS).map(([flags, given]) => {
  const option = new Option(flags);
  const [name, label] = [option.attributeName(), option.name().replaceAll('-', ' ')];
  return { ...(given as LimitOption<keyof AccountLimits, unknown>), name, label };
});

/** Null removes a limit. Limits without an option are absent. @param given by the names of the options */
export function toLimits(given: Readonly<Record<string, unknown>>): Partial<AccountLimits> {
  const set = OPTIONS.filter(({ name }) => given[name] !== undefined);
  return Object.fromEntries(set.map(({ limit, name }) => [limit, given[name]]));
}

/** Each limit with its label. @param notes what follows an amount, by limit */
export function limitLines(
  limits: AccountLimits,
  notes: { readonly [Name in keyof AccountLimits]?: string },
): Record<string, string> {
  const lines = OPTIONS.map(({ limit, label, amount = String, none = NONE }) => {
    const value = limits[limit] === null ? none : amount(limits[limit]);
    return [label, notes[limit] ? `${value}   (${notes[limit]})` : value];
  });
  return Object.fromEntries(lines);
}

/** These come first in the words of a plan, in this order. */
const FIRST = ['bytesPerSecondDown', 'maxClientAddresses', 'maxSessions', 'quotaBytes'];
const IN_WORDS = OPTIONS.toSorted((a, b) => FIRST.indexOf(b.limit) - FIRST.indexOf(a.limit));

/** `50 GiB per month, 2 addresses, 3 MiB/s down`; `no limits` where there are none. */
export function limitWords(limits: PlanLimits): string {
  const words = IN_WORDS.map(({ limit, words }) => {
    const value = limits[limit as keyof PlanLimits] ?? null;
    return value === null ? undefined : words?.(value, limits);
  });
  return words.filter((word) => word !== undefined).join(', ') || 'no limits';
}
