// Rates of sessions and the traffic of the day.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Calendar } from '../../../../src/core/accounts/usage/calendar.js';
import { LiveActivity } from '../../../../src/core/accounts/usage/live-activity.js';

const NO_RATE = { up: 0, down: 0 };

test('of accounts with equal traffic, the order does not depend on who came first', () => {
  const top = (ids: readonly string[]) => {
    const activity = new LiveActivity(0, new Calendar());
    for (const id of ids) activity.addTraffic('s', id, id === 'most' ? 9 : 1, 0);
    return activity.top(3).map(({ id }) => id);
  };
  assert.deepEqual(top(['c', 'most', 'b', 'a']), ['most', 'a', 'b']);
  assert.deepEqual(top(['a', 'b', 'c', 'most']), ['most', 'a', 'b']);
});

test('rates and daily traffic count each byte once, and midnight resets the daily traffic', () => {
  let now = Date.UTC(2026, 0, 1, 23, 59, 50);
  const activity = new LiveActivity(now, new Calendar());
  activity.addTraffic('s', 'a', 400, 3_000);
  activity.addTraffic('s', 'a', 600, 0);
  now += 2_000;
  activity.tick(now);
  assert.deepEqual(activity.rateOf('s'), { up: 500, down: 1_500 });
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 1_000, down: 3_000 });
  now += 100;
  activity.tick(now);
  assert.deepEqual(
    activity.rate,
    { up: 500, down: 1_500 },
    'a tenth of a second is too short for a new rate',
  );
  now += 10_000;
  activity.tick(now);
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 0, down: 0 });
  assert.deepEqual([activity.rate, activity.rateOf('s')], [NO_RATE, NO_RATE]);
  activity.addTraffic('s', 'a', 500, 0);
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 500, down: 0 });
  now += 1_000;
  activity.tick(now);
  activity.closed('s');
  assert.deepEqual([activity.rate, activity.rateOf('s')], [{ up: 500, down: 0 }, NO_RATE]);
  assert.equal(activity.takeSample().bytesUp, 1_500);
  assert.equal(activity.totals.bytesUp, 1_500);
});

test('today begins at midnight of the time zone, and includes what was counted before a start', () => {
  const calendar = new Calendar([{ zone: 'Asia/Shanghai', since: 0 }]);
  const midnight = Date.UTC(2026, 0, 1, 16);
  const activity = new LiveActivity(midnight - 5_000, calendar);
  const counted = { logins: 1, failures: 0, heartbeats: 2, runs: 0, bytesUp: 3, bytesDown: 4 };
  // Two rows: the time zone has changed today.
  activity.load([counted, counted], [{ id: 'a', up: 3, down: 4 }]);
  activity.tick(midnight - 1);
  assert.deepEqual([activity.today.logins, activity.today.bytesDown], [2, 8]);
  activity.tick(midnight);
  assert.deepEqual([activity.today.logins, activity.todayOf('a').up], [0, 0]);
});
