// When the main thread takes a worker for stuck, by an injected clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocateGauges, viewGauges } from '../../../src/proxy/memory/shared.js';
import { PlaneWatch } from '../../../src/proxy/plane/watch.js';
import type { PlaneWorker } from '../../../src/proxy/plane/worker-handle.js';

const STUCK_MS = 5_000;

test('a worker that took long to start is stuck only when its loop has not turned for a while after it', (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let terminated = 0;
  const worker = {
    index: 0,
    isStarted: false,
    isStopping: false,
    isOver: false,
    thread: {
      terminate() {
        terminated += 1;
      },
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const gauges = viewGauges(allocateGauges());
  const workers = [worker as unknown as PlaneWorker];
  const watch = new PlaneWatch({ workers, gauges, log, stuckMs: STUCK_MS, onTerminateFailed() {} });
  watch.start();
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += STUCK_MS / 5) {
      nowMs += STUCK_MS / 5;
      t.mock.timers.tick(STUCK_MS / 5);
    }
  };
  pass(5 * STUCK_MS);
  worker.isStarted = true;
  pass(STUCK_MS);
  assert.equal(terminated, 0, 'before its first turn');
  gauges.addSign(0, 'turns', 1);
  pass(STUCK_MS);
  assert.equal(terminated, 0, 'soon after a turn');
  pass(STUCK_MS);
  assert.equal(terminated, 1);
  watch.stop();
});
