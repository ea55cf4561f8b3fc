// SIGTERM while the database is locked: the daemon ends by itself, with an exit code that reports errors.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { exitCodeAfter } from '../../src/cli/serve/serve.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { sqlitePackage } from '../../src/store/sqlite/package.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { sqliteClient } from '../helpers/sqlite-client.js';

const STOPPED_WITH_ERRORS = 3;
/** A daemon that waits for its write would need longer. */
const LIMIT = { timeout: 300_000 };
const config = { shutdownGrace: '0s', stopTimeout: '300ms', database: { busyTimeout: '100ms' } };

/** Locks the daemon's database as another program would; call the returned function to unlock it. */
async function lock(t: TestContext, { dataDir }: TestDaemon): Promise<() => Promise<void>> {
  const db = connectSqlite(sqliteClient, join(dataDir, 'pulsegate.db'), 30_000);
  t.after(() => db.destroy());
  await db.raw('begin immediate');
  return async () => {
    await db.raw('rollback');
  };
}

/** Returns the parts that did not stop without errors, according to the log. */
function failedParts({ lines }: TestDaemon): unknown[] {
  return lines.filter(({ msg }) => msg.startsWith('part of the daemon')).map((line) => line['part']);
}

test('with a permanent lock the daemon stops every part and exits with 3', LIMIT, async (t) => {
  const daemon = await startTestDaemon(t, { config });
  await lock(t, daemon);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), STOPPED_WITH_ERRORS);
  assert.ok(failedParts(daemon).includes('agents'), JSON.stringify(failedParts(daemon)));
  assert.ok(daemon.lines.some(({ msg, exitCode }) => msg === 'stopped with errors' && exitCode === 3));
});

test('with a lock the daemon stops after stopTimeout, although a write may wait longer', LIMIT, async (t) => {
  if (sqlitePackage(sqliteClient).name === '@photostructure/sqlite')
    return t.skip('ending its thread would end the process');
  const daemon = await startTestDaemon(t, { config: { ...config, database: { busyTimeout: '1h' } } });
  await lock(t, daemon);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), STOPPED_WITH_ERRORS);
  assert.ok(daemon.lines.some(({ msg, part }) => msg.endsWith('did not stop in time') && part === 'agents'));
});

test('with a lock that ends before stopTimeout the daemon writes everything and exits with 0', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: { ...config, stopTimeout: '1m', database: { busyTimeout: '1m' } },
  });
  const unlock = await lock(t, daemon);
  daemon.signal('SIGTERM');
  await daemon.waitForLine(({ msg }) => msg.startsWith('stopping'));
  // A write that waits for the lock causes no event.
  await new Promise((resolve) => setTimeout(resolve, 400));
  await unlock();
  assert.equal(await daemon.exited(), 0);
  assert.deepEqual(failedParts(daemon), []);
});

test('the exit code in the log is that of the process, also after a thread that cannot be terminated', () => {
  for (const isClean of [true, false]) {
    assert.equal(exitCodeAfter({ hasStuckThread: true }, isClean), 128 + 9);
    assert.equal(exitCodeAfter({ hasStuckThread: false }, isClean), 1);
  }
  assert.equal(exitCodeAfter('SIGTERM', true), 0);
});
