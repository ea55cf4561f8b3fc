// The end of the daemon: every part stops, in order, whatever another does, and none takes longer than it may.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopAll } from '../../src/parts/lifecycle.js';

test('parts stop last first; one that fails and one that never ends are logged and hold up nobody', async () => {
  const stopped: string[] = [];
  const logged: unknown[] = [];
  const note = (fields: Readonly<Record<string, unknown>>, message: string) =>
    void logged.push([fields['part'], message]);
  const log = { debug: note, info: note, warn: note, error: note };
  const part = (name: string) => ({ name, stop: () => void stopped.push(name) });
  const parts = [
    part('database'),
    { name: 'fails', stop: async () => Promise.reject(new Error('cannot')) },
    {
      name: 'throws',
      stop() {
        throw new Error('cannot');
      },
    },
    { name: 'hangs', stop: () => new Promise<void>(() => {}) },
    part('listener'),
  ];
  assert.equal(await stopAll(parts, 20, log), false);
  assert.deepEqual(stopped, ['listener', 'database']);
  assert.deepEqual(logged, [
    ['hangs', 'a part of the daemon did not stop in time'],
    ['throws', 'a part of the daemon did not stop in order'],
    ['fails', 'a part of the daemon did not stop in order'],
  ]);
  assert.equal(await stopAll([part('one'), part('two')], 20, log), true);
});
