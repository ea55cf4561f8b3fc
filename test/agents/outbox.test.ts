// The outbox of deliveries: an item that is added while it reads waits for no later one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutbox } from '../../src/agents/channels/outbox.js';
import { eventually } from '../helpers/eventually.js';

/** Starts an outbox whose search for the next due time waits until `answer` is called. */
function startOutbox() {
  const items: string[] = [];
  const delivered: string[] = [];
  let answer: () => void = () => {};
  const searching = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let searches = 0;
  const outbox = createOutbox<string>({
    name: 'test',
    due: async () => items.filter((item) => !delivered.includes(item)),
    async nextDueAt() {
      searches += 1;
      const found = items.length > delivered.length ? 0 : null;
      await searching;
      return found;
    },
    keyOf: (item) => item,
    attempt: async (item) => void delivered.push(item),
    concurrency: 2,
    now: Date.now,
    log: { error: (fields) => assert.fail(JSON.stringify(fields)) },
  });
  const add = (item: string): void => {
    items.push(item);
    outbox.wake();
  };
  outbox.wake();
  return { outbox, delivered, add, answer: () => answer(), isSearching: () => searches === 1 };
}

test('an item that is added during the search for the next due time is delivered', async () => {
  const { outbox, delivered, add, answer, isSearching } = startOutbox();
  await eventually(isSearching);
  add('reply');
  answer();
  await eventually(() => assert.deepEqual(delivered, ['reply']));
  await outbox.stop(1000);
});

test('an item that is added before the stop is delivered, and none that is added later', async () => {
  const { outbox, delivered, add, answer, isSearching } = startOutbox();
  await eventually(isSearching);
  add('before');
  const stopped = outbox.stop(1000);
  answer();
  await stopped;
  add('after');
  assert.deepEqual(delivered, ['before']);
});
