// The effect of a plan on an account: a renewal or upgrade never takes away paid days or bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createPlansSetting,
  isPlanName,
  NO_PLAN_LIMITS,
  type Plan,
  planFor,
  planForNew,
} from '../../../../src/core/accounts/plans/plans.js';
import { NO_LIMITS } from '../../../../src/core/accounts/usage/limits.js';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const plan = (fields: Partial<Plan> = {}): Plan => ({
  ...{ name: 'p', days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS, exit: null },
  ...fields,
});
const account = {
  ...{ limits: NO_LIMITS, quotaReset: null, expiresAt: null, daysFromFirstLogin: null, lastLoginAt: null },
};
const UNUSED = { totalBytesUp: 0, totalBytesDown: 0 };

test('a stored plan has no limit of those that came after it was stored', async () => {
  const stored = [{ ...plan(), limits: { maxSessions: 2, quotaPeriod: 'never' } }];
  const plans = createPlansSetting({
    get: async () => JSON.stringify(stored),
    exchange: async () => true,
    set: async () => {},
  });
  await plans.reload();
  assert.deepEqual(plans.byName('p')?.limits, { ...NO_PLAN_LIMITS, maxSessions: 2, quotaPeriod: 'never' });
});

test('a renewal counts from the later of now and the old expiry', () => {
  const renewedExpiry = (expiresAt: number | null, fields: Partial<Plan> = {}) =>
    planFor({ ...account, expiresAt, lastLoginAt: 1 }, plan(fields), 'renew', UNUSED, NOW).expiresAt;
  assert.equal(renewedExpiry(NOW + 5 * DAY), NOW + 35 * DAY);
  assert.equal(renewedExpiry(NOW - 5 * DAY), NOW + 30 * DAY);
  assert.equal(renewedExpiry(null), NOW + 30 * DAY);
  assert.equal(renewedExpiry(NOW + DAY, { days: null }), null);
  assert.equal(
    renewedExpiry(NOW + DAY, { startsAtFirstLogin: true }),
    NOW + 31 * DAY,
    'the account has logged in already',
  );
});

test('days from the first login add up until the first login', () => {
  const waiting = plan({ startsAtFirstLogin: true });
  assert.deepEqual(planForNew(waiting, NOW), {
    ...{ plan: 'p', expiresAt: null, daysFromFirstLogin: 30, limits: NO_PLAN_LIMITS },
  });
  const days = (daysFromFirstLogin: number | null, renewal = waiting) =>
    planFor({ ...account, daysFromFirstLogin }, renewal, 'renew', UNUSED, NOW).daysFromFirstLogin;
  assert.deepEqual([days(null), days(30), days(30, plan())], [30, 60, 60]);
});

test('an upgrade does not change the expiry', () => {
  const change = planFor({ ...account, expiresAt: NOW + DAY }, plan(), 'upgrade', UNUSED, NOW);
  assert.deepEqual([change.expiresAt, change.daysFromFirstLogin, change.plan], [undefined, undefined, 'p']);
});

test('a renewal adds the quota of a plan without a period to the remaining quota, and a monthly quota replaces the old one', () => {
  const never = plan({ limits: { ...NO_PLAN_LIMITS, quotaBytes: 50, quotaPeriod: 'never' } });
  const used = (bytes: number) => ({ totalBytesUp: bytes - 1, totalBytesDown: 1 });
  const quota = (
    oldQuota: number | null,
    bytes: number,
    action: 'renew' | 'upgrade' = 'renew',
    reset = 0,
  ) => {
    const limits = { ...NO_LIMITS, quotaBytes: oldQuota, quotaPeriod: 'never' } as const;
    const quotaReset = { at: 0, totalBytes: reset };
    return planFor({ ...account, limits, quotaReset }, never, action, used(bytes), NOW).limits?.quotaBytes;
  };
  assert.equal(quota(50, 20), 100, '20 used, 30 left, and 50 more');
  assert.equal(quota(50, 70), 120, '70 used, nothing left, and 50 more');
  assert.equal(quota(null, 10), 60);
  assert.equal(quota(50, 120, 'renew', 100), 100, 'only traffic since the last reset counts');
  assert.equal(quota(50, 20, 'upgrade'), 70, 'at least 50 are left');
  assert.equal(quota(200, 20, 'upgrade'), 200, 'the 180 that are left stay');
  assert.equal(quota(Number.MAX_SAFE_INTEGER, 1), Number.MAX_SAFE_INTEGER);
  const monthly = plan({ limits: { ...NO_PLAN_LIMITS, quotaBytes: 50 } });
  assert.equal(planFor(account, monthly, 'renew', used(70), NOW).limits?.quotaBytes, 50);
});

test('the name of a plan is short and has no white space around it', () => {
  for (const name of ['Month', '月付 50 GB', 'x'.repeat(64)]) assert.ok(isPlanName(name), name);
  for (const name of ['', ' x', 'x ', 'x\n', 'x'.repeat(65), '\ud800'])
    assert.ok(!isPlanName(name), JSON.stringify(name));
});
