// The signal of changes: frequent ones of a topic become one, and nothing waits where nobody listens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Changed, createChangeSignal } from '../../../src/core/stats/change-signal.js';
import { createTestTimers } from '../../helpers/timers.js';

function world() {
  const timers = createTestTimers();
  const changes = createChangeSignal(300, timers);
  const seen: Changed[] = [];
  const unsubscribe = changes.subscribe((changed) => seen.push(changed));
  return { timers, changes, seen, unsubscribe };
}

test('changes within the quiet time are published as one of each topic', async () => {
  const { timers, changes, seen } = world();
  changes.notify('accounts', 'a');
  changes.notify('accounts', 'b');
  changes.notify('runs', 'r');
  await timers.pass(299);
  changes.notify('runs', 'r');
  assert.deepEqual(seen, []);
  await timers.pass(1);
  assert.deepEqual(seen, [
    { topic: 'accounts', id: null },
    { topic: 'runs', id: 'r' },
  ]);
  changes.notify('settings');
  await timers.pass(300);
  assert.deepEqual(seen.slice(2), [{ topic: 'settings', id: null }]);
});

test('without listeners, and after the close, nothing is kept', async () => {
  const { timers, changes, seen, unsubscribe } = world();
  unsubscribe();
  assert.equal(changes.hasListeners(), false);
  changes.notify('accounts', 'a');
  changes.subscribe((changed) => seen.push(changed));
  await timers.pass(300);
  changes.notify('accounts', 'b');
  changes.close();
  await timers.pass(300);
  assert.deepEqual(seen, []);
});
