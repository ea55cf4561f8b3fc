import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decisions } from '../../../src/proxy/udp/decisions.js';

test('an account can make so many decisions a second, and a quarter of them at once after a pause', () => {
  let now = 1_000;
  const decisions = new Decisions(250, { now: () => now });
  const acquired = (tries: number): number =>
    Array.from({ length: tries }, () => decisions.tryAcquire()).filter(Boolean).length;
  assert.equal(acquired(1000), 62);
  now += 11;
  // The rest of the first decisions counts.
  assert.equal(acquired(1000), 3);
  let inOneSecond = 0;
  for (let i = 0; i < 1000; i += 1) {
    now += 1;
    inOneSecond += acquired(10);
  }
  assert.equal(inOneSecond, 250);
  now += 3_600_000;
  assert.equal(acquired(1000), 62);
});
