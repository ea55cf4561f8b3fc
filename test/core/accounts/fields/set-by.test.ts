// Who may set a field of an account: what the table of fields says holds for plans, bulk actions and callers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsOf } from '../../../../src/core/accounts/account-input.js';
import {
  ACCOUNT_FIELDS,
  FIELDS,
  INITIAL_FIELDS,
  PLAN_FIELDS,
} from '../../../../src/core/accounts/fields/account-fields.js';
import { planFor, planForNew } from '../../../../src/core/accounts/plans/plans.js';
import { REPORTED_AS } from '../../../../src/core/accounts/usage/guard.js';
import { NO_LIMITS } from '../../../../src/core/accounts/usage/limits.js';
import { BulkAction } from '../../../../src/http/v1/accounts/bulk-action.js';

const NOTHING = { ...INITIAL_FIELDS, limits: NO_LIMITS };

test('a plan sets the fields of the table, and limits', () => {
  const plan = { name: 'month', days: 30, startsAtFirstLogin: true, limits: NO_LIMITS, exit: 'up' };
  const usage = { totalBytesUp: 0, totalBytesDown: 0 };
  const account = { ...NOTHING, quotaReset: null, lastLoginAt: 1 };
  const set = [planForNew(plan, 0), planFor(account, plan, 'renew', usage, 0)].flatMap(Object.keys);
  assert.deepEqual([...new Set(set)].sort(), [...PLAN_FIELDS, 'limits'].sort());
});

test('each bulk action of the table is one of the API', () => {
  const types = BulkAction.options.map(({ shape }) => shape.type.value as string);
  for (const [name, { setBy }] of FIELDS) assert.ok(setBy.bulk === null || types.includes(setBy.bulk), name);
});

test('sellers need nothing for their fields, and nobody for a value that stays', () => {
  for (const [name, { needs: given, setBy }] of FIELDS) {
    const needs = typeof given === 'function' ? given(NOTHING) : (given ?? null);
    const change = { [name]: 'other' };
    assert.deepEqual(needsOf(change, NOTHING, false), needs === null ? [] : [needs], name);
    assert.deepEqual(needsOf(change, NOTHING, true), needs === null || setBy.sellers ? [] : [needs], name);
    assert.deepEqual(needsOf({ [name]: NOTHING[name] }, NOTHING, false), [], name);
  }
  assert.equal(ACCOUNT_FIELDS.owner.setBy.sellers, false);
  for (const isSeller of [true, false])
    assert.deepEqual(needsOf({ limits: { egressClass: 'games' } }, NOTHING, isSeller), ['egress:write']);
});

test('only a suspension by the guard needs egress:write to be lifted', () => {
  for (const [suspendReason, needs] of [
    ['abuse report', []],
    [REPORTED_AS.lookupsPerMinute, ['egress:write']],
  ] as const)
    assert.deepEqual(
      needsOf({ suspendedUntil: null }, { ...NOTHING, suspendedUntil: 1, suspendReason }, false),
      needs,
    );
});
