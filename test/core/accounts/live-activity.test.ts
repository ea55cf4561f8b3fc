// Rates of sessions and the traffic of the day.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveActivity } from '../../../src/core/accounts/live-activity.js';

test('rates and the day: bytes of sessions are counted once, and midnight begins anew', () => {
  let now = Date.UTC(2026, 0, 1, 23, 59, 50);
  const activity = new LiveActivity(now);
  let [up, down] = [0, 0];
  const session = { id: 's', accountId: 'a', bytesUp: () => up, bytesDown: () => down };
  activity.opened(session);
  [up, down] = [1_000, 3_000];
  now += 2_000;
  activity.tick(now);
  assert.deepEqual(activity.rateOf('s'), { up: 500, down: 1_500 });
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 1_000, down: 3_000 });
  now += 100;
  activity.tick(now);
  assert.deepEqual(activity.rate, { up: 500, down: 1_500 }, 'too short a time to measure');
  now += 10_000;
  activity.tick(now);
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 0, down: 0 });
  up = 1_500;
  activity.closed(session);
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 500, down: 0 });
  assert.equal(activity.takeSample().bytesUp, 1_500);
  assert.equal(activity.totals.bytesUp, 1_500);
});
