// The lifecycle of the daemon: every part stops in order, also when another fails, and within its time limit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLifecycle } from '../../src/parts/lifecycle.js';

function lifecycle(graceMs = 0) {
  const steps: string[] = [];
  const logged: unknown[] = [];
  const record = (fields: Readonly<Record<string, unknown>>, message: string) =>
    void logged.push([fields['part'], message]);
  const log = { debug: record, info: record, warn: record, error: record };
  const part = (name: string) => ({
    name,
    start: () => void steps.push(`start ${name}`),
    stop: () => void steps.push(`stop ${name}`),
  });
  return { daemonLife: createLifecycle({ graceMs, stopTimeoutMs: 20, log }), part, steps, logged };
}

test('parts stop in reverse order; failures and timeouts are logged and do not delay others', async () => {
  const { daemonLife, part, steps, logged } = lifecycle();
  await daemonLife.use(part('database'));
  await daemonLife.use({ name: 'fails', stop: async () => Promise.reject(new Error('cannot')) });
  await daemonLife.use({
    name: 'throws',
    stop() {
      throw new Error('cannot');
    },
  });
  await daemonLife.use({ name: 'hangs', stop: () => new Promise<void>(() => {}) });
  await daemonLife.use(part('listener'));
  assert.equal(await daemonLife.stop(), false);
  assert.deepEqual(steps, ['start database', 'start listener', 'stop listener', 'stop database']);
  assert.deepEqual(logged, [
    ['hangs', 'part of the daemon did not stop in time'],
    ['throws', 'part of the daemon failed to stop'],
    ['fails', 'part of the daemon failed to stop'],
  ]);
});

test('all parts drain at the same time before any stops; a second stop ends the drain', async () => {
  const { daemonLife, part, steps } = lifecycle(3_600_000);
  await daemonLife.use(part('database'));
  await daemonLife.use({
    ...part('sessions'),
    drain: ({ ms, signal }) =>
      new Promise<void>((resolve) => {
        steps.push(`drain for ${ms} ms`);
        signal.addEventListener('abort', () => resolve());
      }),
  });
  const stopped = daemonLife.stop();
  assert.equal(daemonLife.stop(), stopped);
  assert.equal(await stopped, true);
  assert.deepEqual(steps.slice(2), ['drain for 3600000 ms', 'stop sessions', 'stop database']);
});

test('a part that fails to start is stopped, and so are the parts before it', async () => {
  const { daemonLife, part, steps } = lifecycle();
  await daemonLife.use(part('database'));
  const start = async () => Promise.reject(new Error('port in use'));
  await assert.rejects(daemonLife.use({ ...part('listener'), start }), /port in use/);
  assert.equal(await daemonLife.undo(), true);
  assert.deepEqual(steps, ['start database', 'stop listener', 'stop database']);
});
