// Writes that are made together: which items share a batch, and which result each caller gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatches } from '../../src/agents/batches.js';

test('requests at the same time, and during a write, share the next batch', async () => {
  const batches: number[][] = [];
  const { add, idle } = createBatches(async (items: readonly number[]) => {
    batches.push([...items]);
    if (batches.length === 1) later.push(add(4), add(5));
    return items.map((item) => item * 10);
  });
  const later: Promise<number>[] = [];
  assert.deepEqual(await Promise.all([1, 2, 3].map(add)), [10, 20, 30]);
  assert.deepEqual(await Promise.all(later), [40, 50]);
  assert.deepEqual(batches, [
    [1, 2, 3],
    [4, 5],
  ]);
  await idle();
  assert.equal(await add(6), 60);
});

test('a batch has at most 500 items', async () => {
  const sizes: number[] = [];
  const { add } = createBatches(async (items: readonly number[]) => {
    sizes.push(items.length);
    return items;
  });
  await Promise.all(Array.from({ length: 1001 }, (_, i) => add(i)));
  assert.deepEqual(sizes, [500, 500, 1]);
});

test('a failed batch rejects for each of its callers, and the next batch is written', async () => {
  let fails = true;
  const { add } = createBatches(async (items: readonly string[]) => {
    if (fails) throw new Error('disk full');
    return items;
  });
  const outcomes = await Promise.allSettled([add('a'), add('b')]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  fails = false;
  assert.equal(await add('c'), 'c');
});

test('a batch with fewer results than items rejects for each of its callers', async () => {
  const { add } = createBatches(async () => ['only one']);
  for (const outcome of await Promise.allSettled([add(1), add(2)])) {
    assert.ok(outcome.status === 'rejected');
    assert.match(String(outcome.reason), /wrong number of results/);
  }
});
