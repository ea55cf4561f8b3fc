// Threads that die: a few deaths within a minute cause no delay, more do.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecentDeaths } from '../../src/proxy/plane-restarts.js';

it('a thread is restarted at once three times within a minute, and then after a second', () => {
  const deaths = new RecentDeaths();
  const pauses = [0, 10, 20, 30, 40].map((now) => {
    deaths.add(now);
    return deaths.pauseMs;
  });
  assert.deepEqual(pauses, [0, 0, 0, 1_000, 1_000]);
  assert.equal(deaths.add(60_041), 1);
  assert.equal(deaths.pauseMs, 0);
});
