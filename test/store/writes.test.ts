// Whether a SQLite file was written to, by its write-ahead log.
import assert from 'node:assert/strict';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { watchWrites } from '../../src/store/sqlite/database.js';
import { eventually } from '../helpers/eventually.js';
import { addAccount } from '../helpers/stored-accounts.js';
import { opener } from './databases.js';
import { account } from './helpers.js';

/** A log of which the test sets the time, and the clock of the one that watches it, in ms. */
async function watchedLog(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-writes-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'some.db');
  const log = `${file}-wal`;
  const clock = { ms: 1_700_000_000_000 };
  const write = async (content: string, at = clock.ms): Promise<void> => {
    await writeFile(log, content);
    await utimes(log, at / 1000, at / 1000);
  };
  await write('one', clock.ms - 60_000);
  return { clock, log, write, wasWritten: watchWrites(file, () => clock.ms) };
}

test('an unchanged log tells that nothing was written, but for a while only', async (t) => {
  const { clock, wasWritten } = await watchedLog(t);
  assert.equal(wasWritten(), true, 'at first');
  assert.equal(wasWritten(), false);
  clock.ms += 9_999;
  assert.equal(wasWritten(), false);
  clock.ms += 1;
  assert.equal(wasWritten(), true);
  assert.equal(wasWritten(), false);
  clock.ms -= 60_000;
  assert.equal(wasWritten(), true, 'after the clock was set back');
});

test('a write is noticed by its time or its size, and in doubt twice', async (t) => {
  const { clock, log, write, wasWritten } = await watchedLog(t);
  wasWritten();
  await write('two', clock.ms - 50_000);
  assert.equal(wasWritten(), true);
  assert.equal(wasWritten(), false);
  await write('three', clock.ms - 50_000);
  assert.equal(wasWritten(), true);
  assert.equal(wasWritten(), false);
  await write('four!');
  assert.equal(wasWritten(), true);
  clock.ms += 250;
  assert.equal(wasWritten(), true, 'another write may have left the same time');
  assert.equal(wasWritten(), false);
  await rm(log);
  assert.equal(wasWritten(), true, 'there is no log');
  assert.equal(wasWritten(), true);
});

test('each caller of a store learns of the writes of another', async (t) => {
  const open = opener(t, 'sqlite3');
  const { store: daemon, database } = await open();
  const { store: command } = await open({ database });
  const watches = [daemon.watchWrites(), daemon.watchWrites()];
  for (const wasWritten of watches) await eventually(() => !wasWritten());
  await addAccount(command.accounts, account());
  for (const wasWritten of watches) assert.equal(wasWritten(), true);
});
