// The cost of changes of accounts. A change in several steps never costs less than in one step.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account } from '../../../src/core/accounts/account.js';
import { costOf } from '../../../src/core/accounts/budget.js';
import { NO_LIMITS, type QuotaPeriod } from '../../../src/core/accounts/limits.js';
import { account } from '../../helpers/account.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Saturday. */
const NOW = Date.parse('2026-11-21T20:00:00Z');

const limited = (quotaBytes: number | null, quotaPeriod: QuotaPeriod, fields: Partial<Account> = {}) =>
  account({ id: 'a', limits: { ...NO_LIMITS, quotaBytes, quotaPeriod }, ...fields });
const bytes = (before: Account | null, after: Account, now = NOW) => costOf(before, after, now).bytes;

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
    assert.equal(bytes(null, waiting('month', 30)), 20);
    assert.equal(bytes(null, waiting('never', 30)), 10);
  });

  it('is infinite without an expiry, unless the quota has no period', () => {
    assert.equal(bytes(null, limited(10, 'day')), Infinity);
    assert.equal(bytes(null, limited(10, 'never')), 10);
    assert.equal(bytes(limited(10, 'day'), limited(20, 'day')), 0, 'from infinite to infinite');
  });

  it('is charged again for another quota period, as for a reset', () => {
    const before = limited(10, 'never', { expiresAt: NOW + HOUR_MS });
    const limits = { ...before.limits, quotaPeriod: 'day' } as const;
    assert.equal(bytes(before, { ...before, limits }), 10);
    assert.equal(bytes(before, { ...before, quotaReset: { at: NOW, totalBytes: 5 } }), 10);
    assert.equal(bytes(before, { ...before, remarks: 'x' }), 0);
  });
});

describe('the cost of days from the first login', () => {
  const days = (before: Account | null, after: Account) => costOf(before, after, NOW).ms / DAY_MS;
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
