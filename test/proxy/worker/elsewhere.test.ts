// The activity of an account at other nodes reduces its share of its rate at this node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSchedules } from '../../../src/core/accounts/access/schedule.js';
import { NO_GEO } from '../../../src/core/addresses/geo.js';
import { WorkerAccounts } from '../../../src/proxy/worker/accounts.js';
import { accountRecord, accountsFor } from '../plane/plane-world.js';

const BYTES = 1_000_000;

test('each node where the account is active has the same share of its rate', () => {
  let nowMs = 0;
  const io = { now: () => nowMs, timer: () => ({ clear: () => undefined }) };
  const accounts = new WorkerAccounts({
    io,
    egressOf: () => null,
    schedules: createSchedules('UTC'),
    geo: NO_GEO,
    onMost() {},
  });
  const put = accountsFor(accounts);
  const record = accountRecord('ann');
  const limited = { ...record, limits: { ...record.limits, bytesPerSecondDown: BYTES } };
  put({ ...limited, otherNodes: 2 }, 0);
  const passed = (): number => {
    let count = 0;
    while (accounts.byUsername('ann')?.rates?.down.pass(1_000)) count += 1_000;
    return count;
  };
  passed();
  nowMs += 100;
  const shared = passed();
  put(limited, 0);
  nowMs += 100;
  const whole = passed();
  assert.ok(shared > 0);
  assert.ok(Math.abs(3 * shared - whole) <= 3_000, `${shared} of ${whole}`);
});
