// The budget of a seller, and the cost of a change of one of its accounts.
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

/** The fields of an account that a budget pays for. */
export type Priced = Pick<Account, 'expiresAt' | 'daysFromFirstLogin' | 'limits' | 'quotaReset'>;

const PERIOD_DAYS = { day: 1, week: 7, month: 30 } as const;

/**
 * Returns the cost of a change: a new account, the added time, the traffic that the quotas additionally allow until the account
 * expires, and a quota whose usage a reset or another quota period clears. An account that waits for its first login again costs
 * all its days. Reducing or removing an account refunds nothing. The cost of something without a bound is Infinity.
 * @param now ms since the epoch
 */
export function costOf(before: Priced | null, after: Priced, now: number): Cost {
  const isReset =
    before !== null &&
    (before.quotaReset !== after.quotaReset || before.limits.quotaPeriod !== after.limits.quotaPeriod);
  const waitsAgain = before?.daysFromFirstLogin === null && after.daysFromFirstLogin !== null;
  // The remaining days do not count towards the days that begin with the login.
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
  const [first] = shortOf(budget, used, cost);
  if (first) throw new OverBudget(first.what, first.left, first.needed);
}

/** A part of a budget: what is left of it (Infinity: no bound), and what a change needs (Infinity: something without a bound). */
export interface BudgetNeed {
  readonly what: keyof Budget;
  readonly left: number;
  readonly needed: number;
}

/** Returns what `cost` needs of each part of a budget, rounded to hundredths. */
export function needsOf(budget: Budget, used: Cost, cost: Cost): BudgetNeed[] {
  return exactNeeds(budget, used, cost).map(({ what, left, needed }) => ({
    what,
    // Rounds so that a change that does not fit never looks as if it did.
    left: Math.floor(left * 100) / 100,
    needed: Math.ceil(needed * 100) / 100,
  }));
}

/** Returns the parts of which too little is left. */
export function shortOf(budget: Budget, used: Cost, cost: Cost): BudgetNeed[] {
  const isShort = exactNeeds(budget, used, cost).map(({ left, needed }) => needed > left);
  return needsOf(budget, used, cost).filter((_, part) => isShort[part]);
}

function exactNeeds(budget: Budget, used: Cost, cost: Cost): BudgetNeed[] {
  const need = (what: keyof Budget, usedOfIt: number, needed: number): BudgetNeed => ({
    what,
    left: Math.max(0, (budget[what] ?? Infinity) - usedOfIt),
    needed,
  });
  return [
    need('accounts', used.accounts, cost.accounts),
    need('days', used.ms / DAY_MS, cost.ms / DAY_MS),
    need('bytes', used.bytes, cost.bytes),
  ];
}

/** From Infinity to Infinity there is no growth. */
const growth = (before: number, after: number): number => (after > before ? after - before : 0);

/** Returns the remaining time of the account, in ms. An account that waits for its first login counts as if it logged in now. */
function msLeft({ expiresAt, daysFromFirstLogin }: Priced, now: number): number {
  if (daysFromFirstLogin !== null) return daysFromFirstLogin * DAY_MS;
  return expiresAt === null ? Infinity : Math.max(0, expiresAt - now);
}

/** Returns the bytes that the quota allows until the account expires: one quota, or one for every period until then. */
function bytesGranted(account: Priced, now: number): number {
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
  { expiresAt, daysFromFirstLogin }: Priced,
  period: keyof typeof PERIOD_DAYS,
  now: number,
): number {
  if (daysFromFirstLogin !== null) return Math.ceil(daysFromFirstLogin / PERIOD_DAYS[period]) + 1;
  if (expiresAt === null) return Infinity;
  return expiresAt <= now ? 0 : periodIndex(period, expiresAt - 1) - periodIndex(period, now) + 1;
}
