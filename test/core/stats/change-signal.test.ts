// The signal of changes: frequent changes of a topic are published as one, and nothing is kept without listeners.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Changed, createChangeSignal } from '../../../src/core/stats/change-signal.js';
import { createTestTimers } from '../../helpers/timers.js';

function setUp() {
  const timers = createTestTimers();
  const changes = createChangeSignal(300, timers);
  const published: Changed[] = [];
  const unsubscribe = changes.subscribe((changed) => published.push(changed));
  return { timers, changes, published, unsubscribe };
}

test('changes within the quiet time are published as one change per topic', async () => {
  const { timers, changes, published } = setUp();
  changes.notify('accounts', 'a');
  changes.notify('accounts', 'b');
  changes.notify('runs', 'r');
  await timers.pass(299);
  changes.notify('runs', 'r');
  assert.deepEqual(published, []);
  await timers.pass(1);
  assert.deepEqual(published, [
    { topic: 'accounts', id: null },
    { topic: 'runs', id: 'r' },
  ]);
  changes.notify('settings');
  await timers.pass(300);
  assert.deepEqual(published.slice(2), [{ topic: 'settings', id: null }]);
});

test('without listeners and after the close no change is kept', async () => {
  const { timers, changes, published, unsubscribe } = setUp();
  unsubscribe();
  assert.equal(changes.hasListeners(), false);
  changes.notify('accounts', 'a');
  changes.subscribe((changed) => published.push(changed));
  await timers.pass(300);
  changes.notify('accounts', 'b');
  changes.close();
  await timers.pass(300);
  assert.deepEqual(published, []);
});
