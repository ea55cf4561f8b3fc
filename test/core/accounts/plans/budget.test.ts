// The cost of changes of accounts. A change in several steps never costs less than in one step.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Account } from '../../../../src/core/accounts/account.js';
import { type AccountChange, changed } from '../../../../src/core/accounts/account-input.js';
import { trafficOf } from '../../../../src/core/accounts/account-writes.js';
import {
  type Budget,
  type Cost,
  checkBudget,
  costOf,
  NO_BUDGET,
  NO_COST,
  OverBudget,
  sumOf,
} from '../../../../src/core/accounts/plans/budget.js';
import { planFor } from '../../../../src/core/accounts/plans/plans.js';
import { Calendar } from '../../../../src/core/accounts/usage/calendar.js';
import { NO_LIMITS, QUOTA_PERIODS, type QuotaPeriod } from '../../../../src/core/accounts/usage/limits.js';
import { periodBytesOf } from '../../../../src/core/accounts/usage/traffic-store.js';
import { account } from '../../../helpers/account.js';
import { scaled } from '../../../helpers/scale.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Saturday. */
const NOW = Date.parse('2026-11-21T20:00:00Z');

const calendar = new Calendar();
const limited = (quotaBytes: number | null, quotaPeriod: QuotaPeriod, fields: Partial<Account> = {}) =>
  account({ id: 'a', limits: { ...NO_LIMITS, quotaBytes, quotaPeriod }, ...fields });
const bytes = (before: Account | null, after: Account, now = NOW) =>
  costOf(before, after, { now, calendar }).bytes;

describe('the cost of a quota', () => {
  for (const [period, expiry, periods] of [
    ['day', '2026-11-21T21:00', 1],
    ['day', '2026-11-22T00:00', 1],
    ['day', '2026-11-22T00:01', 2],
    ['week', '2026-11-23T00:00', 1],
    ['week', '2026-11-23T00:01', 2],
    ['month', '2026-12-01T00:00', 1],
    ['month', '2027-01-01T00:01', 3],
    ['never', '2027-01-01T00:01', 1],
  ] as const) {
    it(`is ${periods} × the quota by ${period} until ${expiry}`, () => {
      assert.equal(bytes(null, limited(10, period, { expiresAt: Date.parse(`${expiry}Z`) })), 10 * periods);
    });
  }

  for (const period of ['day', 'week', 'month'] as const) {
    it(`by ${period} is the same for many short extensions as for one long extension`, () => {
      const at = (hours: number) => limited(10, period, { expiresAt: NOW + hours * HOUR_MS });
      let sum = bytes(null, at(5));
      const last = 100 * 24;
      for (let hours = 5; hours < last; hours += 5) {
        sum += bytes(at(hours), at(Math.min(hours + 5, last)), NOW + (hours - 1) * HOUR_MS);
      }
      assert.equal(sum, bytes(null, at(last)));
    });
  }

  it('counts one more period for days from the first login, which may begin within a period', () => {
    const waiting = (period: QuotaPeriod, days: number) => limited(10, period, { daysFromFirstLogin: days });
    assert.equal(bytes(null, waiting('day', 3)), 40);
    assert.equal(bytes(null, waiting('week', 8)), 30);
    assert.equal(bytes(null, waiting('month', 30)), 30, 'January 30 to March 1');
    assert.equal(bytes(null, waiting('month', 28)), 20);
    assert.equal(bytes(null, waiting('never', 30)), 10);
  });

  it('is infinite without an expiry, unless the quota has no period', () => {
    assert.equal(bytes(null, limited(10, 'day')), Infinity);
    assert.equal(bytes(null, limited(10, 'never')), 10);
    assert.equal(bytes(limited(20, 'day'), limited(10, 'day')), 0);
    assert.equal(bytes(limited(10, 'day'), limited(20, 'day')), Infinity, 'more every day, for ever');
  });

  it('is charged again for another quota period, as for a reset', () => {
    const before = limited(10, 'never', { expiresAt: NOW + HOUR_MS });
    const limits = { ...before.limits, quotaPeriod: 'day' } as const;
    assert.equal(bytes(before, { ...before, limits }), 10);
    assert.equal(bytes(before, { ...before, quotaReset: { at: NOW, totalBytes: 5 } }), 10);
    assert.equal(bytes(before, { ...before, remarks: 'x' }), 0);
  });
});

describe('the cost of what was used', () => {
  const cost = (before: Account, after: Account, used: { before: number; after: number }) =>
    costOf(before, after, { now: NOW, calendar }, used).bytes;
  const month = { expiresAt: NOW + 30 * DAY_MS };

  it('is charged again when days are spent in one day and given back', () => {
    const daily = limited(3, 'day', month);
    const today = limited(90, 'day', { expiresAt: NOW + HOUR_MS });
    assert.equal(cost(daily, today, { before: 0, after: 0 }), 87, 'more today, in spite of less tomorrow');
    assert.equal(cost(today, daily, { before: 90, after: 90 }), 90, 'thirty days of three');
  });

  it('is not granted anew by another quota period', () => {
    const spent = limited(9, 'never', month);
    assert.equal(cost(spent, limited(0.3, 'day', month), { before: 9, after: 9 }), 0.3 * 30);
    assert.equal(cost(spent, limited(9, 'day', { expiresAt: NOW + HOUR_MS }), { before: 0, after: 0 }), 9);
  });

  it('is what is left of the current period, after an expiry in it', () => {
    const expired = limited(10, 'month', { expiresAt: NOW - HOUR_MS });
    assert.equal(
      cost(expired, limited(10, 'month', { expiresAt: NOW + HOUR_MS }), { before: 4, after: 4 }),
      6,
    );
  });
});

describe('the cost of days from the first login', () => {
  const days = (before: Account | null, after: Account) =>
    costOf(before, after, { now: NOW, calendar }).ms / DAY_MS;
  const running = limited(10, 'day', { expiresAt: NOW + 10 * DAY_MS });
  const waiting = limited(10, 'day', { daysFromFirstLogin: 10 });

  it('is the whole number for an account that has an expiry already', () => {
    assert.equal(days(running, waiting), 10);
    assert.equal(bytes(running, waiting), 110);
    assert.equal(days(account(), waiting), 10, 'also without an expiry');
  });

  it('is the increase for an account that waits for its first login', () => {
    assert.equal(days(null, waiting), 10);
    assert.equal(days(waiting, { ...waiting, daysFromFirstLogin: 12 }), 2);
    assert.equal(days(waiting, { ...waiting, remarks: 'x' }), 0);
  });
});

interface Quota {
  readonly quotaBytes: number;
  readonly quotaPeriod: QuotaPeriod;
}

/** The accounts of a seller with a budget, on a clock, used as far as their terms allow. */
function shopWith(budget: Budget, calendar: Calendar) {
  let now = NOW;
  let charged = NO_COST;
  interface Held {
    account: Account;
    readonly days: Map<number, number>;
    charged: Cost;
    bytesUsed: number;
    msUsed: number;
  }
  const all: Held[] = [];
  const accounts: Held[] = [];

  const sumsOf = ({ account: { limits }, days }: Pick<Held, 'account' | 'days'>) => {
    const since = calendar.firstDay(limits.quotaPeriod, now) ?? -1;
    const sum = (from: number) => [...days].reduce((sums, [day, of]) => sums + (day >= from ? of : 0), 0);
    return { bytesUp: sum(-1), bytesDown: 0, bytesSince: sum(since) };
  };
  const usedOf = (held: Pick<Held, 'account' | 'days'>) =>
    periodBytesOf(held.account, sumsOf(held), { now, calendar });
  const addTo = ({ days }: Held, day: number, of: number) => days.set(day, (days.get(day) ?? 0) + of);

  /** Makes a change if the budget allows it. */
  function change(held: Held, before: Account | null, after: Account): boolean {
    const used = { before: before ? usedOf(held) : 0, after: usedOf({ ...held, account: after }) };
    const cost = costOf(before, after, { now, calendar }, used);
    try {
      checkBudget(budget, charged, cost);
    } catch (error) {
      assert.ok(error instanceof OverBudget);
      return false;
    }
    charged = sumOf([charged, cost]);
    held.charged = sumOf([held.charged, cost]);
    held.account = after;
    return true;
  }

  const shop = {
    accounts,
    create: (hours: number, days: number | null, limits: Quota, imported: number): void => {
      const terms = days === null ? { expiresAt: now + hours * HOUR_MS } : { daysFromFirstLogin: days };
      const made: Held = {
        account: limited(limits.quotaBytes, limits.quotaPeriod, { ...terms, id: `${all.length}` }),
        ...{ days: new Map(), charged: NO_COST, bytesUsed: 0, msUsed: 0 },
      };
      if (!change(made, null, made.account)) return;
      accounts.push(made);
      all.push(made);
      const used = { totalBytesUp: imported, totalBytesDown: 0, periodBytes: imported / 2 };
      for (const { day, bytesUp } of trafficOf(made.account, used, now, calendar)) addTo(made, day, bytesUp);
    },
    patch: (held: Held, fields: AccountChange): void => {
      change(held, held.account, changed(held.account, fields));
    },
    reset: (held: Held): void => {
      const quotaReset = { at: now, totalBytes: sumsOf(held).bytesUp };
      change(held, held.account, { ...held.account, quotaReset });
    },
    renew: (held: Held, plan: Quota & { days: number; waits: boolean }, use: 'renew' | 'upgrade'): void => {
      const { quotaBytes, quotaPeriod, days, waits } = plan;
      const limits = { ...NO_LIMITS, quotaBytes, quotaPeriod };
      const usage = { totalBytesUp: sumsOf(held).bytesUp, totalBytesDown: 0 };
      const sold = { name: 'p', days, startsAtFirstLogin: waits, limits, exit: null };
      shop.patch(held, planFor(held.account, sold, use, usage, now));
    },
    /** Uses a part of what the quota allows now; a first login begins the days. */
    use(held: Held, part: number) {
      const { daysFromFirstLogin: days, limits } = held.account;
      if (days !== null)
        held.account = changed(held.account, {
          expiresAt: now + days * DAY_MS,
        });
      if (held.account.expiresAt !== null && held.account.expiresAt <= now) return;
      const left = Math.max(0, (limits.quotaBytes ?? 0) - usedOf(held));
      const spent = Math.floor(left * part);
      addTo(held, calendar.dayOf(now), spent);
      held.bytesUsed += spent;
    },
    pass(ms: number) {
      for (const held of accounts) {
        const { daysFromFirstLogin, expiresAt } = held.account;
        if (daysFromFirstLogin === null && expiresAt !== null)
          held.msUsed += Math.min(ms, Math.max(0, expiresAt - now));
      }
      now += ms;
    },
    /** Uses everything that is left, period by period, and checks that it was charged. */
    end() {
      const isLive = ({ account: { expiresAt } }: Held) => (expiresAt ?? 0) > now;
      do {
        for (const held of accounts) shop.use(held, 1);
        const ends = accounts.filter(isLive).map(({ account: { limits, expiresAt } }) => {
          const end = Math.min(
            calendar.periodEnd(limits.quotaPeriod, now) ?? Infinity,
            expiresAt ?? Infinity,
          );
          return end - now;
        });
        shop.pass(ends.length === 0 ? 0 : Math.min(...ends));
      } while (accounts.some(isLive));
      for (const { bytesUsed, msUsed, charged: of } of all) {
        assert.ok(bytesUsed <= of.bytes, `${bytesUsed} bytes used, ${of.bytes} charged`);
        assert.ok(msUsed <= of.ms, `${msUsed} ms used, ${of.ms} charged`);
      }
      assert.ok(
        charged.bytes <= (budget.bytes ?? Infinity) && charged.ms <= (budget.days ?? Infinity) * DAY_MS,
      );
    },
  };
  return { ...shop, now: () => now };
}

describe('the accounts of a seller', () => {
  const quotaBytes = fc.integer({ min: 0, max: 60 });
  const quotaPeriod = fc.constantFrom(...QUOTA_PERIODS);
  const limits = fc.record({ quotaBytes, quotaPeriod }, { requiredKeys: [] });
  const hours = fc.oneof(fc.integer({ min: -30, max: 60 }), fc.integer({ min: 0, max: 2_000 }));
  const days = fc.integer({ min: 1, max: 70 });
  const step = fc.oneof(
    fc.record({
      is: fc.constant('create' as const),
      ...{ quotaBytes, quotaPeriod, hours, days: fc.option(days) },
      imported: fc.constantFrom(0, 0, 40),
    }),
    fc.record({ is: fc.constant('limits' as const), limits }),
    fc.record({ is: fc.constant('expiry' as const), hours, limits }),
    fc.record({ is: fc.constant('days' as const), days }),
    fc.record({ is: fc.constant('reset' as const) }),
    fc.record({
      is: fc.constant('plan' as const),
      ...{ days, quotaBytes, quotaPeriod, waits: fc.boolean() },
      use: fc.constantFrom('renew' as const, 'upgrade' as const),
    }),
    fc.record({
      is: fc.constant('pass' as const),
      hours: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 900 })),
    }),
    fc.record({ is: fc.constant('use' as const), part: fc.constantFrom(0.3, 1, 1) }),
    fc.record({ is: fc.constant('use' as const), part: fc.constant(1) }),
    fc.record({ is: fc.constant('remove' as const) }),
  );

  function take(
    shop: ReturnType<typeof shopWith>,
    one: typeof step extends fc.Arbitrary<infer Step> ? Step : never,
    held: (typeof shop.accounts)[number] | undefined,
  ): void {
    if (one.is === 'create') return shop.create(one.hours, one.days, one, one.imported);
    if (one.is === 'pass') return shop.pass(one.hours * HOUR_MS);
    if (!held) return;
    switch (one.is) {
      case 'limits':
        return shop.patch(held, { limits: { ...one.limits } });
      case 'expiry':
        return shop.patch(held, { expiresAt: shop.now() + one.hours * HOUR_MS, limits: { ...one.limits } });
      case 'days':
        return shop.patch(held, { daysFromFirstLogin: one.days });
      case 'reset':
        return shop.reset(held);
      case 'use':
        return shop.use(held, one.part);
      case 'remove':
        shop.accounts.splice(shop.accounts.indexOf(held), 1);
        return;
      case 'plan':
        return shop.renew(held, one, one.use);
    }
  }

  it('never use more than was charged to its budget, whatever is changed and when', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(step, fc.nat()), { minLength: 3, maxLength: 12 }),
        fc.option(fc.constant(500)),
        fc.constantFrom('UTC', 'UTC', 'America/Santiago', 'Asia/Kathmandu'),
        (steps, boundDays, zone) => {
          const budget = { ...NO_BUDGET, bytes: 3_000, days: boundDays };
          const shop = shopWith(budget, new Calendar([{ zone, since: 0 }]));
          for (const [one, pick] of steps) take(shop, one, shop.accounts[pick % (shop.accounts.length || 1)]);
          shop.end();
        },
      ),
      { numRuns: scaled(250) },
    );
  });
});
