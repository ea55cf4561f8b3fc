// Polling: one poll at a time, also when it is asked for, and an error ends nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPoller } from '../../src/core/poller.js';
import { createTestTimers } from '../helpers/timers.js';

function world() {
  const timers = createTestTimers();
  const errors: unknown[] = [];
  const polls: { end: () => void; fail: (error: unknown) => void }[] = [];
  const poller = createPoller({
    intervalMs: 100,
    poll: () => new Promise((end, fail) => polls.push({ end, fail })),
    onError: (error) => errors.push(error),
    timers,
  });
  return { timers, errors, polls, poller };
}

test('a poll that is in progress is joined, and another begins after it', async () => {
  const { timers, polls, poller } = world();
  poller.start();
  await timers.pass(99);
  assert.equal(polls.length, 0);
  await timers.pass(1);
  const asked = poller.poll();
  await timers.pass(300);
  assert.equal(polls.length, 1);
  polls[0]?.end();
  await asked;
  await timers.pass(100);
  assert.equal(polls.length, 2);
});

test('a poll that fails is reported, and the next one begins in time', async () => {
  const { timers, errors, polls, poller } = world();
  poller.start();
  await timers.pass(100);
  polls[0]?.fail('no answer');
  await timers.pass(100);
  assert.deepEqual([errors, polls.length], [['no answer'], 2]);
});

test('after the stop, which waits for the poll in progress, none begins', async () => {
  const { timers, polls, poller } = world();
  poller.start();
  await timers.pass(100);
  let hasStopped = false;
  const stopped = poller.stop().then(() => {
    hasStopped = true;
  });
  await timers.pass(300);
  assert.deepEqual([hasStopped, polls.length], [false, 1]);
  polls[0]?.end();
  await stopped;
});
