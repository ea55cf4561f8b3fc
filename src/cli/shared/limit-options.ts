// Limits as options of commands: `--max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month`. What commands read and show
// of limits is made from one description of each.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseSize } from '../../config/units.js';
import type { PlanLimits } from '../../core/accounts/plans/plans.js';
import { type AccountLimits, QUOTA_PERIODS } from '../../core/accounts/usage/limits.js';
import { formatBytes } from './table.js';

/** Removes a limit. A string, because commander treats null as a missing value. */
export const NONE = 'none';

interface LimitOption<Value> {
  readonly flags: string;
  readonly help: string;
  /** Left out: the text itself, which is one of `choices` if there are any. */
  read?(text: string): Value | typeof NONE;
  readonly choices?: readonly string[];
  readonly label: string;
  amount(value: Value): string;
  /** With its noun, in the line of a plan. Left out: not there. */
  words?(value: Value, limits: PlanLimits): string;
}

const count = (
  flags: string,
  help: string,
  label: string,
  one: string,
  many = `${one}s`,
): LimitOption<number> => ({
  flags,
  help,
  read: parseCount,
  label,
  amount: String,
  words: (n) => `${n} ${n === 1 ? one : many}`,
});

const rate = (direction: 'up' | 'down', help: string): LimitOption<number> => {
  const amount = (bytes: number): string => `${formatBytes(bytes)}/s`;
  const label = `rate ${direction}`;
  const words = (bytes: number): string => `${amount(bytes)} ${direction}`;
  return { flags: `--rate-${direction} <rate>`, help, label, read: parseRate, amount, words };
};

const LIMITS: {
  readonly [Name in keyof AccountLimits]: LimitOption<NonNullable<AccountLimits[Name]>>;
} = {
  maxSessions: count('--max-sessions <n>', 'maximum concurrent sessions', 'max sessions', 'session'),
  maxClientAddresses: count(
    '--max-addresses <n>',
    'maximum client addresses at the same time',
    'max addresses',
    'address',
    'addresses',
  ),
  bytesPerSecondUp: rate('up', 'rate from the client, over all sessions: 512KiB/s'),
  bytesPerSecondDown: rate('down', 'rate to the client, over all sessions: 1MiB/s'),
  quotaBytes: {
    flags: '--quota <size>',
    help: 'traffic per period, up and down together: 50GiB',
    label: 'quota',
    read: parseByteSize,
    amount: formatBytes,
    words: (bytes, { quotaPeriod: period }) =>
      `${formatBytes(bytes)} ${period === 'never' ? 'in total' : `per ${period}`}`,
  },
  quotaPeriod: {
    flags: '--quota-period <period>',
    help: 'when usage resets',
    choices: QUOTA_PERIODS,
    label: 'quota period',
    amount: String,
  },
  egressClass: {
    flags: '--egress-class <name>',
    help: 'a class of egress.classes in the configuration',
    label: 'egress class',
    amount: String,
  },
};
const OPTIONS = (Object.entries(LIMITS) as [keyof AccountLimits, LimitOption<unknown>][]).map(
  ([name, limit]) => {
    const option = new Option(limit.flags, limit.help);
    if (limit.read) option.argParser(limit.read);
    if (limit.choices) option.choices(limit.choices);
    return { name, limit, option };
  },
);

/** The limits that commands change, by the names of their options. */
export type LimitOptions = Readonly<Record<string, unknown>>;

/** The limits that plans have, or those of accounts. */
export function withLimitOptions(command: Command, of: 'plans' | 'accounts'): Command {
  for (const { name, option } of OPTIONS)
    if (of === 'accounts' || name !== 'egressClass') command.addOption(option);
  return command;
}

/** Null removes a limit. Limits without an option are absent. */
export function toLimits(options: LimitOptions): Partial<AccountLimits> {
  const change = OPTIONS.map(({ name, option }) => [name, options[option.attributeName()]] as const);
  const given = change.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === NONE ? null : value]));
}

/** Each limit with its label. @param note what follows an amount, by limit */
export function limitLines(
  limits: AccountLimits,
  note: { readonly [Name in keyof AccountLimits]?: string },
): (readonly [string, string])[] {
  return OPTIONS.map(({ name, limit: { label, amount } }) => {
    const value = limits[name] === null ? NONE : amount(limits[name]);
    return [label, note[name] ? `${value}   (${note[name]})` : value];
  });
}

/** These come first in the words of a plan, in this order. */
const FIRST = ['quotaBytes', 'maxSessions', 'maxClientAddresses', 'bytesPerSecondDown'];

/** `50 GiB per month, 2 addresses, 3 MiB/s down`; `no limits` where there are none. */
export function limitWords(limits: PlanLimits): string {
  const names = new Set([...FIRST, ...Object.keys(LIMITS)] as (keyof PlanLimits)[]);
  const words = [...names].map((name) => {
    const limit = LIMITS[name] as LimitOption<unknown>;
    return limits[name] === null ? undefined : limit.words?.(limits[name], limits);
  });
  return words.filter((word) => word !== undefined).join(', ') || 'no limits';
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
