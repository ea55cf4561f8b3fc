// How long the answer to a refused login is delayed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoginDelay } from '../../../src/http/guards/attempts.js';
import { createTestTimers } from '../../helpers/timers.js';

for (const [random, shortestMs, longestMs] of [
  [0, 500, 501],
  [0.5, 1_000, 1_001],
  [1 - Number.EPSILON, 1_499, 1_500],
] as const) {
  test(`the delay lasts from ${shortestMs} to ${longestMs} ms with the random number ${random}`, async () => {
    const timers = createTestTimers();
    const delay = createLoginDelay(1, () => random, timers);
    let end: string | undefined;
    void delay.wait('192.0.2.1').then((how) => {
      end = how;
    });
    await timers.pass(shortestMs);
    assert.equal(end, undefined);
    assert.ok(delay.isFull('192.0.2.1'));
    await timers.pass(longestMs - shortestMs);
    assert.equal(end, 'elapsed');
    assert.ok(!delay.isFull('192.0.2.1'));
  });
}

test('closing ends every delay and clears its timer', async () => {
  const timers = createTestTimers();
  const delay = createLoginDelay(2, () => 0, timers);
  const waits = ['192.0.2.1', '192.0.2.2'].map((address) => delay.wait(address));
  assert.equal(timers.waiting(), 2);
  delay.close();
  assert.deepEqual(await Promise.all(waits), ['closed', 'closed']);
  assert.equal(timers.waiting(), 0);
});
