// Plans: what an operator sells ("month, 50 GB, 2 devices, 3 MB/s"), and how a plan is applied to an account.
import { differences } from '../../audit/audit.js';
import { createAuditedSetting, type SettingStore } from '../../settings/setting.js';
import { hasControl } from '../../text.js';
import { DAY_MS } from '../../time/clock.js';
import type { Account } from '../account.js';
import type { AccountChange } from '../account-input.js';
import { type AccountLimits, type LimitUsage, NO_LIMITS } from '../usage/limits.js';

/** A plan does not change the egress class of an account. */
export type PlanLimits = Omit<AccountLimits, 'egressClass'>;

export interface Plan {
  /** Unique; accounts and the command line refer to the plan by it. */
  readonly name: string;
  /** Duration; null: unlimited. */
  readonly days: number | null;
  /** The days of an account that has never logged in are counted from its first login. */
  readonly startsAtFirstLogin: boolean;
  readonly limits: PlanLimits;
  /** Name of the exit that accounts of the plan get; null: theirs stays. */
  readonly exit: string | null;
}

export const MAX_PLANS = 100;
export const MAX_PLAN_NAME = 64;
export const MAX_PLAN_DAYS = 3_650;

/**
 * `renew` adds the plan's days to the remaining days, and a quota with the period 'never' to the remaining quota. `upgrade` keeps
 * the expiry, and gives such a quota the larger of the remaining quota and the plan's quota.
 */
type PlanUse = 'renew' | 'upgrade';

const { egressClass: _, ...NO_PLAN_LIMITS } = NO_LIMITS;

export { NO_PLAN_LIMITS };

export type PlansSetting = ReturnType<typeof createPlansSetting>;

/** The operator's plans, in the order in which they are offered. Accounts stay as they are when their plan is changed or removed. */
export function createPlansSetting(store: SettingStore) {
  const byName = (plans: readonly Plan[]) => Object.fromEntries(plans.map((plan) => [plan.name, plan]));
  const setting = createAuditedSetting<readonly Plan[]>({
    store,
    key: 'accounts.plans',
    name: 'plans',
    initial: [],
    // A plan that a former version stored lacks the limits that came later.
    parse: (text) =>
      (JSON.parse(text || '[]') as Plan[]).map((plan) => ({
        ...plan,
        exit: plan.exit ?? null,
        limits: { ...NO_PLAN_LIMITS, ...plan.limits },
      })),
    // The log shows each save, also of a new order.
    audited: (before, after) => ({ ...differences(byName(before), byName(after)), differs: true }),
  });
  return {
    ...setting,
    list: setting.current,
    byName: (name: string): Plan | null => setting.current().find((plan) => plan.name === name) ?? null,
  };
}

/** Whether a plan may have this name: 1 to 64 characters, no surrounding white space, no control characters. */
export function isPlanName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= MAX_PLAN_NAME &&
    name.trim() === name &&
    !hasControl(name) &&
    name.isWellFormed()
  );
}

/** The fields of a new account to which a plan is applied at `now`, in ms since the epoch. */
export function planForNew(
  plan: Plan,
  now: number,
): Pick<Account, 'plan' | 'expiresAt' | 'daysFromFirstLogin'> &
  Pick<AccountChange, 'exit'> & { readonly limits: PlanLimits } {
  const { name, days, startsAtFirstLogin, limits } = plan;
  const waits = startsAtFirstLogin && days !== null;
  return {
    plan: name,
    expiresAt: days === null || waits ? null : now + days * DAY_MS,
    daysFromFirstLogin: waits ? days : null,
    limits,
    ...exitOf(plan),
  };
}

/** A plan without an exit leaves that of the account. */
const exitOf = ({ exit }: Plan): Pick<AccountChange, 'exit'> => (exit === null ? {} : { exit });

type Planned = Pick<Account, 'limits' | 'quotaReset' | 'expiresAt' | 'daysFromFirstLogin' | 'lastLoginAt'>;

/** The change of an account when a plan is applied at `now`, in ms since the epoch; `usage` is its total usage so far. */
export function planFor(
  account: Planned,
  plan: Plan,
  use: PlanUse,
  usage: Pick<LimitUsage, 'totalBytesUp' | 'totalBytesDown'>,
  now: number,
): AccountChange {
  const limits = { ...plan.limits, quotaBytes: quotaFor(account, plan, use, usage) };
  if (use === 'upgrade') return { plan: plan.name, limits, ...exitOf(plan) };
  return { plan: plan.name, limits, ...exitOf(plan), ...expiryFor(account, plan, now) };
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

/**
 * Only a quota with the period 'never' depends on the remaining quota: a quota per day, week or month resets by the calendar
 * anyway.
 */
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
  const remaining = Math.max(0, (old ?? 0) - used);
  const next = used + (use === 'renew' ? remaining + quotaBytes : Math.max(remaining, quotaBytes));
  return Math.min(next, Number.MAX_SAFE_INTEGER);
}
