// The budget of a seller, and the cost of a change of one of its accounts.
import { DAY_MS } from '../../time/clock.js';
import type { Account } from '../account.js';
import { type Counting, type Moment, periodBytesOf, type StoredTraffic } from '../usage/traffic-store.js';

/** null: no bound. */
export interface Budget {
  readonly accounts: number | null;
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
type Priced = Pick<Account, 'expiresAt' | 'daysFromFirstLogin' | 'limits' | 'quotaReset'>;

/** What the quota of an account has counted in its period, in bytes: by the terms before a change, and by those after it. */
interface Used {
  readonly before: number;
  readonly after: number;
}

const NOTHING_USED: Used = { before: 0, after: 0 };

/**
 * Returns the cost of a change: a new account, the added time, and the traffic that the account may additionally use until it
 * expires. Used traffic is spent. A reset, or another quota period, costs one quota at least. An account that waits for its first
 * login again costs all its days. Reducing or removing an account refunds nothing. The cost of something without a bound is Infinity.
 */
export function costOf(before: Priced | null, after: Priced, at: Moment, used = NOTHING_USED): Cost {
  const { now } = at;
  const isReset =
    before !== null &&
    (before.quotaReset !== after.quotaReset || before.limits.quotaPeriod !== after.limits.quotaPeriod);
  const waitsAgain = before?.daysFromFirstLogin === null && after.daysFromFirstLogin !== null;
  // The remaining days do not count towards the days that begin with the login.
  const had = before && waitsAgain ? { ...before, expiresAt: now } : before;
  return {
    accounts: before ? 0 : 1,
    ms: growth(had ? msLeft(had, now) : 0, msLeft(after, now)),
    bytes: Math.max(bytesAdded(had, after, at, used), isReset ? (after.limits.quotaBytes ?? 0) : 0),
  };
}

/** A change that a budget is charged for; `before` is null for a new account. */
export interface Change {
  readonly before: (Priced & Counting) | null;
  readonly after: Priced & Counting;
}

/**
 * Returns the cost of changes.
 * @param read reads the traffic of accounts for the periods of their quotas
 */
export async function costOfAll(
  changes: readonly Change[],
  read: (accounts: readonly Counting[]) => Promise<StoredTraffic>,
  at: Moment,
): Promise<Cost> {
  const changed = changes.flatMap(({ before, after }) => (before ? [{ before, after }] : []));
  const before = await read(changed.map((each) => each.before));
  const after = await read(changed.map((each) => each.after));
  const usedOf = (change: Change): Used => ({
    before: change.before ? periodBytesOf(change.before, before.get(change.before.id), at) : 0,
    after: change.before ? periodBytesOf(change.after, after.get(change.after.id), at) : 0,
  });
  return sumOf(changes.map((change) => costOf(change.before, change.after, at, usedOf(change))));
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
  const first = needsOf(budget, used, cost).find(({ isShort }) => isShort);
  if (first) throw new OverBudget(first.what, first.left, first.needed);
}

/** A part of a budget: what is left of it (Infinity: no bound), and what a change needs (Infinity: something without a bound). */
interface BudgetNeed {
  readonly what: keyof Budget;
  readonly left: number;
  readonly needed: number;
  readonly isShort: boolean;
}

/** Returns what `cost` needs of each part of a budget, rounded to hundredths: what does not fit never looks as if it did. */
export function needsOf(budget: Budget, used: Cost, cost: Cost): BudgetNeed[] {
  const need = (what: keyof Budget, usedOfIt: number, needed: number): BudgetNeed => {
    const left = Math.max(0, (budget[what] ?? Infinity) - usedOfIt);
    const rounded = { left: Math.floor(left * 100) / 100, needed: Math.ceil(needed * 100) / 100 };
    return { what, ...rounded, isShort: needed > left };
  };
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

/** The traffic that an account may still use: in the current period of its quota, and in each of the `later` ones. */
interface Grant {
  readonly current: number;
  readonly quota: number;
  readonly later: number;
}

function grantOf(account: Priced, used: number, at: Moment): Grant {
  const { quotaBytes, quotaPeriod } = account.limits;
  const quota = quotaBytes ?? Infinity;
  const left = Math.max(0, quota - Math.max(0, used));
  if (quotaPeriod === 'never' || quotaBytes === null) return { current: left, quota, later: 0 };
  const periods = periodsLeft(account, quotaPeriod, at);
  // What was used today says nothing about the day of the first login.
  const current = account.daysFromFirstLogin === null ? left : quota;
  return { current: periods > 0 ? current : 0, quota, later: Math.max(0, periods - 1) };
}

/**
 * Returns the bytes that an account may use after a change and could not use before. Of quotas with the same periods each period
 * counts by itself: more today and less tomorrow is more.
 */
function bytesAdded(before: Priced | null, after: Priced, at: Moment, used: Used): number {
  const gets = grantOf(after, used.after, at);
  if (!before) return gets.current + times(gets.quota, gets.later);
  const had = grantOf(before, used.before, at);
  const isAlike =
    before.limits.quotaPeriod === after.limits.quotaPeriod &&
    (before.daysFromFirstLogin === null) === (after.daysFromFirstLogin === null);
  if (!isAlike)
    return growth(had.current + times(had.quota, had.later), gets.current + times(gets.quota, gets.later));
  return (
    growth(had.current, gets.current) +
    times(growth(had.quota, gets.quota), Math.min(had.later, gets.later)) +
    times(gets.quota, growth(had.later, gets.later))
  );
}

/** Without a bound or with one, nothing times something is nothing. */
const times = (bytes: number, periods: number): number =>
  bytes === 0 || periods === 0 ? 0 : bytes * periods;

/**
 * Returns the number of calendar periods in which the account can be used. They do not depend on when the account was extended, so
 * that many short extensions cost what a long one costs.
 */
function periodsLeft(
  { expiresAt, daysFromFirstLogin }: Priced,
  period: 'day' | 'week' | 'month',
  { now, calendar }: Moment,
): number {
  if (daysFromFirstLogin !== null) return calendar.mostPeriods(period, daysFromFirstLogin);
  if (expiresAt === null) return Infinity;
  return expiresAt <= now ? 0 : calendar.periods(period, now, expiresAt - 1);
}
