// Polling: one poll at a time, also on request, and polling continues after an error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPoller } from '../../../src/core/time/timers.js';
import { createTestTimers } from '../../helpers/timers.js';

function setUp() {
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

test('a requested poll joins the poll in progress, and the next one begins after it', async () => {
  const { timers, polls, poller } = setUp();
  poller.start();
  await timers.pass(99);
  assert.equal(polls.length, 0);
  await timers.pass(1);
  const requested = poller.poll();
  await timers.pass(300);
  assert.equal(polls.length, 1);
  polls[0]?.end();
  await requested;
  await timers.pass(100);
  assert.equal(polls.length, 2);
});

test('a failed poll is reported, and the next one begins after the interval', async () => {
  const { timers, errors, polls, poller } = setUp();
  poller.start();
  await timers.pass(100);
  polls[0]?.fail('no answer');
  await timers.pass(100);
  assert.deepEqual([errors, polls.length], [['no answer'], 2]);
});

test('stop waits for the poll in progress, and no poll begins after it', async () => {
  const { timers, polls, poller } = setUp();
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
