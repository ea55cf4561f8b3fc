// The end of the daemon: every part stops, in order, whatever another does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopAll } from '../../src/wiring/drain.js';

test('parts stop last first, and one that fails is logged and holds up nobody', async () => {
  const stopped: string[] = [];
  const logged: string[] = [];
  const note = (_fields: unknown, message: string) => void logged.push(message);
  await stopAll(
    [
      () => void stopped.push('database'),
      async () => {
        throw new Error('cannot');
      },
      async () => void stopped.push('listener'),
    ],
    { debug: note, info: note, warn: note, error: note },
  );
  assert.deepEqual(stopped, ['listener', 'database']);
  assert.deepEqual(logged, ['a part of the daemon did not stop in order']);
});
