// Backups of a live database, and putting one back.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { restoreStore } from '../../src/store/store.js';
import { account, connectBeside, heartbeat, KEEP_ALL, openTestStore, tempDir } from './helpers.js';

const now = () => Date.UTC(2030, 0, 2, 3, 4, 5, 6);

test('a backup of a store in use holds everything, and restores into an empty folder', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const player = account();
  await store.accounts.add(player);
  await store.heartbeats.append([heartbeat(player, { gameId: 'G' })], KEEP_ALL);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  await store.accounts.remove(player.id);

  const elsewhere = join(await tempDir(t), 'data');
  assert.equal(await restoreStore({ dataDir: elsewhere, from, now }), null);
  const { store: restored } = await openTestStore(t, { dataDir: elsewhere });
  assert.deepEqual(await restored.accounts.all(), [player]);
  assert.deepEqual(await restored.heartbeats.totals(), [
    { accountId: player.id, count: 1, latestGameId: 'G' },
  ]);
});

test('a backup never overwrites a file, and a failed one leaves none', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const target = join(dataDir, 'backup');
  await writeFile(target, 'precious');
  await assert.rejects(store.backup(target), { code: 'EEXIST' });
  assert.equal(await readFile(target, 'utf8'), 'precious');
  await assert.rejects(store.backup(join(dataDir, 'missing', 'backup')), { code: 'ENOENT' });
});

test('restoring keeps what it replaces, with what was still in its log, private', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  const old = account({ username: 'old' });
  await store.accounts.add(old);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  const recent = account({ username: 'recent', createdAt: old.createdAt + 1 });
  await store.accounts.add(recent);
  await store.close();

  const kept = await restoreStore({ dataDir, from, now });
  assert.equal(kept, `${file}.replaced-2030-01-02T03-04-05.006Z`);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual((await readdir(dataDir)).sort(), ['backup', 'pulsegate.db', basename(kept)].sort());
  const { store: restored } = await openTestStore(t, { dataDir });
  assert.deepEqual(await restored.accounts.all(), [old]);
  await restored.close();

  await restoreStore({ dataDir, from: kept, now: () => now() + 1 });
  const { store: back } = await openTestStore(t, { dataDir });
  assert.deepEqual(await back.accounts.all(), [old, recent]);
});

test('restoring is refused while the database is open elsewhere, even idle', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  const player = account();
  await store.accounts.add(player);
  const before = await readdir(dataDir);
  await assert.rejects(restoreStore({ dataDir, from, now }), { name: 'StartError', code: 'database-in-use' });
  assert.deepEqual(await readdir(dataDir), before);
  assert.deepEqual(await store.accounts.all(), [player]);
  await store.accounts.remove(player.id);
});

test('restoring over a damaged database works, and keeps the damaged files', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  await store.settings.set('key', 'value');
  const from = join(dataDir, 'backup');
  await store.backup(from);
  await store.close();
  await writeFile(file, 'damaged '.repeat(1000));
  await writeFile(`${file}-wal`, 'damaged log');
  const kept = await restoreStore({ dataDir, from, now });
  assert.ok(kept);
  assert.equal(await readFile(kept, 'utf8'), 'damaged '.repeat(1000));
  const { store: restored } = await openTestStore(t, { dataDir });
  assert.equal(await restored.settings.get('key'), 'value');
});

test('what is not a backup of ours is refused, and nothing is changed', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  await store.settings.set('key', 'value');
  await store.close();
  const sources = await tempDir(t);
  const path = (name: string) => join(sources, name);
  await writeFile(path('text'), 'not a database '.repeat(100));
  await writeFile(path('empty'), '');
  await mkdir(path('folder'));
  const other = connectBeside(t, path('foreign'));
  await other.raw('create table songs (title text)');
  await other.destroy();
  const before = await readdir(dataDir);
  for (const name of ['text', 'empty', 'folder', 'foreign', 'missing']) {
    await assert.rejects(restoreStore({ dataDir, from: path(name), now }), { code: 'backup-unusable' }, name);
  }
  assert.deepEqual(await readdir(dataDir), before);
  assert.equal((await readdir(sources)).includes('missing'), false);
  const { store: again } = await openTestStore(t, { dataDir });
  assert.equal(await again.settings.get('key'), 'value');
});

test('a backup of a newer version is refused', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  await store.close();
  const newer = connectBeside(t, from);
  await newer('schema_migrations').insert({ name: '9999_future', batch: 9, migration_time: new Date() });
  await newer.destroy();
  await assert.rejects(restoreStore({ dataDir, from, now }), { code: 'database-newer' });
});
