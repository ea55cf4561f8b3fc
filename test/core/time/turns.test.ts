// All steps of a stop are tried, whatever the others do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyStep } from '../../../src/core/time/turns.js';

test('every step runs after a failure, and the first failure is the result', async () => {
  const done: string[] = [];
  const steps = everyStep(
    () => {
      throw new Error('first');
    },
    () => Promise.reject(new Error('second')),
    async () => void done.push('third'),
    () => void done.push('fourth'),
  );
  await assert.rejects(steps, { message: 'first' });
  assert.deepEqual(done, ['third', 'fourth']);
});
