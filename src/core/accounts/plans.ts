// Plans: what an operator sells ("month, 50 GB, 2 devices, 3 MB/s"), and what an account gets by one.
import { DAY_MS } from '../clock.js';
import type { Account } from './account.js';
import type { AccountChange } from './account-input.js';
import { type AccountLimits, type LimitUsage, NO_LIMITS } from './limits.js';

/** Where a plan leads is no part of it: the egress class of an account stays. */
export type PlanLimits = Omit<AccountLimits, 'egressClass'>;

export interface Plan {
  /** Unique; accounts and the command line name it by this. */
  readonly name: string;
  /** How long it lasts; null: for ever. */
  readonly days: number | null;
  /** The days of an account that has never logged in are counted from its first login. */
  readonly startsAtFirstLogin: boolean;
  readonly limits: PlanLimits;
}

export const MAX_PLANS = 100;
export const MAX_PLAN_NAME = 64;
export const MAX_PLAN_DAYS = 3_650;

/**
 * `renew` adds the plan's days to what is left of the old ones, and a quota that never starts again to what is left of the
 * old one. `upgrade` lets the expiry stay, and leaves of such a quota at least that of the plan.
 */
export type PlanUse = 'renew' | 'upgrade';

const { egressClass: _, ...NO_PLAN_LIMITS } = NO_LIMITS;

export { NO_PLAN_LIMITS };

const UNUSABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Whether a plan may have this name: 1 to 64 characters, nothing around them, no control characters. */
export function isPlanName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= MAX_PLAN_NAME &&
    name.trim() === name &&
    !UNUSABLE.test(name) &&
    name.isWellFormed()
  );
}

/** What a new account gets by a plan at `now`, in ms since the epoch. */
export function planForNew(
  plan: Plan,
  now: number,
): Pick<Account, 'plan' | 'expiresAt' | 'daysFromFirstLogin'> & { readonly limits: PlanLimits } {
  const { name, days, startsAtFirstLogin, limits } = plan;
  const waits = startsAtFirstLogin && days !== null;
  return {
    plan: name,
    expiresAt: days === null || waits ? null : now + days * DAY_MS,
    daysFromFirstLogin: waits ? days : null,
    limits,
  };
}

type Planned = Pick<Account, 'limits' | 'quotaReset' | 'expiresAt' | 'daysFromFirstLogin' | 'lastLoginAt'>;

/** What an account gets by a plan at `now`; `usage` is what it has used so far. */
export function planFor(
  account: Planned,
  plan: Plan,
  use: PlanUse,
  usage: Pick<LimitUsage, 'totalBytesUp' | 'totalBytesDown'>,
  now: number,
): AccountChange {
  const limits = { ...plan.limits, quotaBytes: quotaFor(account, plan, use, usage) };
  if (use === 'upgrade') return { plan: plan.name, limits };
  return { plan: plan.name, limits, ...expiryFor(account, plan, now) };
}

function expiryFor(
  { expiresAt, daysFromFirstLogin, lastLoginAt }: Planned,
  { days, startsAtFirstLogin }: Plan,
  now: number,
): Pick<AccountChange, 'expiresAt' | 'daysFromFirstLogin'> {
  if (days === null) return { expiresAt: null, daysFromFirstLogin: null };
  if (daysFromFirstLogin !== null) return { daysFromFirstLogin: daysFromFirstLogin + days };
  if (startsAtFirstLogin && lastLoginAt === null && expiresAt === null) return { daysFromFirstLogin: days };
  return { expiresAt: Math.max(now, expiresAt ?? now) + days * DAY_MS };
}

/** A quota per day, week or month starts again by the calendar, whatever is renewed; one that never does is added to. */
function quotaFor(
  { limits, quotaReset }: Planned,
  plan: Plan,
  use: PlanUse,
  { totalBytesUp, totalBytesDown }: Pick<LimitUsage, 'totalBytesUp' | 'totalBytesDown'>,
): number | null {
  const { quotaBytes, quotaPeriod } = plan.limits;
  if (quotaBytes === null || quotaPeriod !== 'never') return quotaBytes;
  const used = Math.max(0, totalBytesUp + totalBytesDown - (quotaReset?.totalBytes ?? 0));
  const old = limits.quotaPeriod === 'never' ? limits.quotaBytes : null;
  const left = Math.max(0, (old ?? 0) - used);
  const next = used + (use === 'renew' ? left + quotaBytes : Math.max(left, quotaBytes));
  return Math.min(next, Number.MAX_SAFE_INTEGER);
}
