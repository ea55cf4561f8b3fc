// A time limit for a promise.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../../../src/core/time/timers.js';
import { createTestTimers } from '../../helpers/timers.js';

test('work that ends in time decides the outcome, and leaves no timer', async () => {
  const timers = createTestTimers();
  assert.equal(await within(100, Promise.resolve('done'), 'late', timers), 'done');
  await assert.rejects(within(100, Promise.reject(new Error('broken')), 'late', timers), /broken/);
  assert.equal(timers.waiting(), 0);
});

test('work that takes longer has the late outcome exactly at the limit', async () => {
  const timers = createTestTimers();
  let outcome: unknown = null;
  void within(100, new Promise(() => {}), 'late', timers).then((value) => {
    outcome = value;
  });
  await timers.pass(99);
  assert.equal(outcome, null);
  await timers.pass(1);
  assert.equal(outcome, 'late');
});
