// Threads that die: a few deaths within a minute cause no delay, more do.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PlaneRestarts, RecentDeaths } from '../../../src/proxy/plane/restarts.js';
import type { PlaneWorker } from '../../../src/proxy/plane/worker-handle.js';

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

it('of several workers one stays native, also when all die at the same moment', () => {
  const workers = [0, 1, 2].map((index) => ({ index, engine: 'native' as 'native' | 'node' }));
  const restarts = new PlaneRestarts(workers as unknown as PlaneWorker[], 3);
  for (let death = 1; death <= 4; death += 1) {
    const next = workers.map((worker) => restarts.next(worker as PlaneWorker, death));
    // A worker is replaced only after all deaths were noticed.
    workers.splice(0, 3, ...next.map(({ engine }, index) => ({ index, engine })));
    const native = death < 3 ? 3 : 1;
    assert.equal(workers.filter(({ engine }) => engine === 'native').length, native, `death ${death}`);
  }
});
