// The budget of a seller: what its accounts may still get, and the cost of a change of an account.
import { DAY_MS } from '../clock.js';
import type { Account } from './account.js';
import { periodIndex } from './limits.js';

/** null: no bound. */
export interface Budget {
  /** Number of created accounts. */
  readonly accounts: number | null;
  /** Sum of the days given to all accounts. */
  readonly days: number | null;
  /** Sum of the traffic granted by quotas, in bytes. */
  readonly bytes: number | null;
}

export const NO_BUDGET: Budget = { accounts: null, days: null, bytes: null };

/** The used part of a budget. Time is exact: an hour given costs an hour. */
export interface Cost {
  readonly accounts: number;
  readonly ms: number;
  readonly bytes: number;
}

export const NO_COST: Cost = { accounts: 0, ms: 0, bytes: 0 };

/** A change needs more of the budget than is left. Nothing was written. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';
  /**
   * @param left accounts, days or bytes
   * @param needed Infinity: the account would have no bound
   */
  constructor(
    readonly what: keyof Budget,
    readonly left: number,
    readonly needed: number,
  ) {
    super(`the budget has ${left} ${what} left`);
  }
}

const PERIOD_DAYS = { day: 1, week: 7, month: 30 } as const;

/**
 * Returns the cost of a change: a new account, the added time, the traffic that the quotas additionally allow until the account
 * expires, and a quota whose usage a reset or another quota period clears. An account that waits for its first login again costs
 * all its days. Reducing or removing an account refunds nothing. The cost of something without a bound is Infinity.
 * @param now ms since the epoch
 */
export function costOf(before: Account | null, after: Account, now: number): Cost {
  const isReset =
    before !== null &&
    (before.quotaReset !== after.quotaReset || before.limits.quotaPeriod !== after.limits.quotaPeriod);
  const waitsAgain = before?.daysFromFirstLogin === null && after.daysFromFirstLogin !== null;
  // The days that it has left do not count towards those that begin with the login.
  const had = before && waitsAgain ? { ...before, expiresAt: now } : before;
  return {
    accounts: before ? 0 : 1,
    ms: growth(had ? msLeft(had, now) : 0, msLeft(after, now)),
    bytes:
      growth(had ? bytesGranted(had, now) : 0, bytesGranted(after, now)) +
      (isReset ? (after.limits.quotaBytes ?? 0) : 0),
  };
}

export function sumOf(costs: readonly Cost[]): Cost {
  return costs.reduce(
    (sum, { accounts, ms, bytes }) => ({
      accounts: sum.accounts + accounts,
      ms: sum.ms + ms,
      bytes: sum.bytes + bytes,
    }),
    NO_COST,
  );
}

/** Throws OverBudget when `cost` exceeds the unused part of the budget. */
export function checkBudget(budget: Budget, used: Cost, cost: Cost): void {
  const check = (what: keyof Budget, bound: number | null, usedOfIt: number, needed: number): void => {
    const left = Math.max(0, (bound ?? Infinity) - usedOfIt);
    if (needed > left) throw new OverBudget(what, Math.floor(left * 100) / 100, needed);
  };
  check('accounts', budget.accounts, used.accounts, cost.accounts);
  check('days', budget.days, used.ms / DAY_MS, cost.ms / DAY_MS);
  check('bytes', budget.bytes, used.bytes, cost.bytes);
}

/** From Infinity to Infinity there is no growth. */
const growth = (before: number, after: number): number => (after > before ? after - before : 0);

/** Returns the remaining time of the account, in ms. An account that waits for its first login counts as if it logged in now. */
function msLeft({ expiresAt, daysFromFirstLogin }: Account, now: number): number {
  if (daysFromFirstLogin !== null) return daysFromFirstLogin * DAY_MS;
  return expiresAt === null ? Infinity : Math.max(0, expiresAt - now);
}

/** Returns the bytes that the quota allows until the account expires: one quota, or one for every period until then. */
function bytesGranted(account: Account, now: number): number {
  const { quotaBytes, quotaPeriod } = account.limits;
  if (quotaBytes === null) return Infinity;
  return quotaBytes === 0 || quotaPeriod === 'never'
    ? quotaBytes
    : quotaBytes * periodsLeft(account, quotaPeriod, now);
}

/**
 * Returns the number of calendar periods in which the account can be used. They do not depend on when the account was extended, so
 * that many short extensions cost what a long one costs. One period more may begin during days that begin with the first login.
 */
function periodsLeft(
  { expiresAt, daysFromFirstLogin }: Account,
  period: keyof typeof PERIOD_DAYS,
  now: number,
): number {
  if (daysFromFirstLogin !== null) return Math.ceil(daysFromFirstLogin / PERIOD_DAYS[period]) + 1;
  if (expiresAt === null) return Infinity;
  return expiresAt <= now ? 0 : periodIndex(period, expiresAt - 1) - periodIndex(period, now) + 1;
}
