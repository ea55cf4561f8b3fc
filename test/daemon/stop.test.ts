// SIGTERM while the database cannot be written: the daemon ends by itself, in time, with a code that tells.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectSqlite } from '../../src/store/sqlite.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';

const NOT_IN_ORDER = 3;
/** Far more than the parts may take, far less than a write may wait. */
const LONGEST_MS = 60_000;
const config = { shutdownGrace: '0s', stopTimeout: '300ms', database: { busyTimeout: '100ms' } };

/** Locks the daemon's database as another program would; call the returned function to unlock it. */
async function lock(t: TestContext, { dataDir }: TestDaemon): Promise<() => Promise<void>> {
  const db = connectSqlite('sqlite3', join(dataDir, 'pulsegate.db'), 1000);
  t.after(() => db.destroy());
  await db.raw('begin immediate');
  return async () => {
    await db.raw('rollback');
  };
}

/** The parts that did not stop as they should, by the log. */
function failedParts({ lines }: TestDaemon): unknown[] {
  return lines.filter(({ msg }) => msg.startsWith('part of the daemon')).map((line) => line['part']);
}

test('locked permanently: exit code 3, after every part was stopped', async (t) => {
  const daemon = await startTestDaemon(t, { config });
  await lock(t, daemon);
  const askedAt = performance.now();
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), NOT_IN_ORDER);
  assert.ok(performance.now() - askedAt < LONGEST_MS);
  assert.ok(failedParts(daemon).includes('agents'), JSON.stringify(failedParts(daemon)));
  assert.ok(daemon.lines.some(({ msg, exitCode }) => msg === 'stopped with errors' && exitCode === 3));
});

test('locked for longer than the limit, however long a write may wait', async (t) => {
  const daemon = await startTestDaemon(t, { config: { ...config, database: { busyTimeout: '1h' } } });
  await lock(t, daemon);
  const askedAt = performance.now();
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), NOT_IN_ORDER);
  assert.ok(performance.now() - askedAt < LONGEST_MS);
  assert.ok(daemon.lines.some(({ msg, part }) => msg.endsWith('did not stop in time') && part === 'agents'));
});

test('locked, and free again in time: everything is written, exit code 0', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: { ...config, stopTimeout: '10s', database: { busyTimeout: '10s' } },
  });
  const unlock = await lock(t, daemon);
  daemon.signal('SIGTERM');
  await daemon.waitForLine(({ msg }) => msg.startsWith('stopping'));
  await new Promise((resolve) => setTimeout(resolve, 400));
  await unlock();
  assert.equal(await daemon.exited(), 0);
  assert.deepEqual(failedParts(daemon), []);
});
