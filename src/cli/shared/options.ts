// What options of several commands are read as, and the limits of accounts as options: `--max-sessions 4 --rate-down 1MiB/s
// --quota 50GiB --quota-period month`.
import { InvalidArgumentError } from 'commander';
import { parseDuration, parseSize } from '../../config/units.js';
import { COUNT, GUARD_LIMIT, MAX_GUARD_LIMIT } from '../../core/accounts/fields/kinds.js';
import type { PlanLimits } from '../../core/accounts/plans/plans.js';
import { type AccountLimits, EGRESS_LIMITS, QUOTA_PERIODS } from '../../core/accounts/usage/limits.js';
import { iso } from '../../core/time/clock.js';
import { isWireDate, parseWireDate } from '../../core/time/wire-date.js';
import { wrongUsage } from './command.js';
import { choice, type Described, madeOf, type Param, param } from './params.js';
import { type Columns, countOf, formatBytes } from './table.js';

/** The `--limit` of a list. */
export function limitOption(what: string, initial: number): Param<number> {
  const read = (text: string): number => {
    const limit = Number(text);
    if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
    throw new InvalidArgumentError('Use a whole number from 1 to 1000.');
  };
  return param(`--limit <n>  maximum number of ${what}`, read).or(initial);
}

/** A date in UTC, or a duration from now on (`sign` 1) or back (-1), in ms since the epoch; null: neither. */
function parseTime(text: string, sign: 1 | -1): number | null {
  const durationMs = parseDuration(text);
  return durationMs === null ? parseWireDate(text) : Date.now() + sign * durationMs;
}

/** An age (`24h`) or a date in UTC, as a time of /api/v1. */
export const pastTime = (described: Described) =>
  param(described, (text) => {
    const at = parseTime(text, -1);
    if (at !== null) return iso(at);
    throw new InvalidArgumentError('Use: 24h, 7d, 2026-11-20 or 2026-11-20T21:00:00 (UTC).');
  });

/** `never` (null), or a duration from now (`30d`) or a date in UTC as a time of /api/v1; exit code 2 for anything else. */
export const expiry = (described: Described) =>
  param(described, (text) => {
    if (text === 'never') return null;
    const at = parseTime(text, 1);
    if (at !== null && isWireDate(at)) return iso(at);
    throw wrongUsage(
      `Invalid time ${JSON.stringify(text)}. Use: never, 30d, 2026-12-31 or 2026-12-31T23:59:59 (UTC).`,
    );
  });

/** `--enable` and `--disable`, of which one may be given, each with its help. */
export const enabling = (on: Described, off: Described) =>
  madeOf({ on, off }, ({ on: enable, off: disable }) => {
    if (enable && disable) throw wrongUsage('--enable and --disable cannot be used together.');
    return disable ? false : enable;
  });

/** Removes a limit. */
export const NONE = 'none';

export const nameOrNone = (described: Described) => param(described, (text) => (text === NONE ? null : text));

const numberOrNone =
  (parse: (text: string) => number | null, expected: string, min = 1) =>
  (described: Described) =>
    param(described, (text) => {
      if (text === NONE) return null;
      const value = parse(text);
      if (value !== null && value >= min) return value;
      throw new InvalidArgumentError(`Use ${expected}, or none.`);
    });
export const count = numberOrNone(COUNT.ofCell, 'a positive whole number');
export const byteSize = numberOrNone(parseSize, 'a size such as 500MiB or 50GiB');
const rate = numberOrNone((text) => parseSize(text.replace(/\/s$/, '')), 'a rate such as 512KiB/s or 1MiB/s');
const FROM_ZERO = `a whole number from 0 (any number) to ${MAX_GUARD_LIMIT}`;
const fromZero = numberOrNone(GUARD_LIMIT.ofCell, FROM_ZERO, 0);
const guarded = (name: string, what: string) =>
  fromZero(`--${name} <n>  ${what}; 0: any number; none: as egress class or configuration say`);

export const PLAN_LIMITS = {
  maxSessions: count('--max-sessions <n>  maximum concurrent sessions'),
  maxClientAddresses: count('--max-addresses <n>  maximum client addresses at the same time'),
  bytesPerSecondUp: rate('--rate-up <rate>  rate from the client, over all sessions: 512KiB/s'),
  bytesPerSecondDown: rate('--rate-down <rate>  rate to the client, over all sessions: 1MiB/s'),
  quotaBytes: byteSize('--quota <size>  traffic per period, up and down together: 50GiB'),
  quotaPeriod: choice('--quota-period <period>  when usage resets', QUOTA_PERIODS),
  connectionsPerSecond: guarded('connections-per-second', 'new connections a second'),
  connectionsPerMinute: guarded('connections-per-minute', 'new connections a minute'),
  destinationsPerMinute: guarded('destinations-per-minute', 'different destinations a minute'),
  udpDestinationsPerSecond: guarded('udp-destinations-per-second', 'datagrams to new destinations a second'),
  failedConnectionsPerMinute: guarded('failed-connections-per-minute', 'failed connections a minute'),
  lookupsPerMinute: guarded('lookups-per-minute', 'names to look up a minute'),
  maxConnections: guarded('max-connections', 'connections at once'),
};

export const ACCOUNT_LIMITS = {
  ...PLAN_LIMITS,
  egressClass: nameOrNone('--egress-class <name>  a class of egress.classes in the configuration'),
} satisfies { readonly [Name in keyof AccountLimits]: Param<AccountLimits[Name] | null | undefined> };

type Words = (value: number, limits: PlanLimits) => string;
const perSecond = (bytes: number): string => `${formatBytes(bytes)}/s`;
/** Others are shown as they are; 0 is any number. */
const AMOUNTS: { readonly [Name in keyof AccountLimits]?: (value: number) => string } = {
  bytesPerSecondUp: perSecond,
  bytesPerSecondDown: perSecond,
  quotaBytes: formatBytes,
};

/** Each limit with its label. @param notes what follows an amount, by limit */
export function limitFields(
  notes: { readonly [Name in keyof AccountLimits]?: string } = {},
): Columns<AccountLimits> {
  const names = Object.keys(ACCOUNT_LIMITS) as (keyof AccountLimits)[];
  const amountOf = (limits: AccountLimits, name: keyof AccountLimits): string => {
    if (limits[name] !== null) return (AMOUNTS[name] ?? String)((limits[name] || 'any number') as number);
    return name !== 'egressClass' && EGRESS_LIMITS.includes(name) ? 'as configured' : NONE;
  };
  return names.map((name) => {
    const note = notes[name] ? `   (${notes[name]})` : '';
    const label = ACCOUNT_LIMITS[name].of.name().replaceAll('-', ' ');
    return { [label]: (limits) => amountOf(limits, name) + note };
  });
}

const some = (what: string) => (n: number) => `${n === 0 ? 'any number of' : n} ${what}`;
/** The parts of the line of a plan, in their order. */
const WORDS: { readonly [Name in keyof PlanLimits]?: Words } = {
  quotaBytes: (bytes, { quotaPeriod: period }) =>
    `${formatBytes(bytes)} ${period === 'never' ? 'in total' : `per ${period}`}`,
  maxSessions: (n) => countOf(n, 'session'),
  maxClientAddresses: (n) => `${n} ${n === 1 ? 'address' : 'addresses'}`,
  bytesPerSecondDown: (bytes) => `${perSecond(bytes)} down`,
  bytesPerSecondUp: (bytes) => `${perSecond(bytes)} up`,
  connectionsPerSecond: some('connections per second'),
  connectionsPerMinute: some('connections per minute'),
  destinationsPerMinute: some('destinations per minute'),
  udpDestinationsPerSecond: some('new UDP destinations per second'),
  failedConnectionsPerMinute: some('failed connections per minute'),
  lookupsPerMinute: some('lookups per minute'),
  maxConnections: some('connections at once'),
};

/** `50 GiB per month, 2 addresses, 3 MiB/s down`; `no limits` where there are none. */
export function limitWords(limits: PlanLimits): string {
  const words = Object.entries<Words>(WORDS).flatMap(([name, of]) => {
    const value = limits[name as keyof PlanLimits] ?? null;
    return value === null ? [] : of(value as number, limits);
  });
  return words.join(', ') || 'no limits';
}
