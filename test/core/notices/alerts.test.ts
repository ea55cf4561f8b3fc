// Which changes of the audit log are announced at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAlerted } from '../../../src/core/notices/alerts.js';

test('of changes of an operator, those of its access are announced, and not those of a budget', () => {
  const isTold = (after: Record<string, unknown> | null) => isAlerted({ action: 'operator.update', after });
  const access = [{ password: 'changed' }, { name: 'lee' }, { role: 'operator' }, { isEnabled: true }];
  for (const after of access) assert.ok(isTold(after), JSON.stringify(after));
  for (const after of [{ budgetDays: 3 }, {}, null]) assert.ok(!isTold(after), JSON.stringify(after));
  assert.ok(isAlerted({ action: 'token.create', after: null }));
});
