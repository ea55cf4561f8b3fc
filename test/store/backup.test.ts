// Backups of a database in use, and their restoration.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DAEMON } from '../../src/core/audit/audit.js';
import { type RestoreOptions, restoreStore } from '../../src/store/sqlite/restore.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { addAccount } from '../helpers/stored-accounts.js';
import { account, connectBeside, heartbeat, KEEP_ALL, openTestStore, tempDir } from './helpers.js';

const now = () => Date.UTC(2030, 0, 2, 3, 4, 5, 6);

test('a backup of a store in use contains all data, and can be restored into an empty folder', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const player = account();
  await addAccount(store.accounts, player);
  await store.heartbeats.append([heartbeat(player, { gameId: 'G' })], KEEP_ALL);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  await store.accounts.removeMany([player.id]);

  const restoredDir = join(await tempDir(t), 'data');
  assert.equal(
    (await restoreStore({ client: sqliteClient, dataDir: restoredDir, from, now })).replaced,
    null,
  );
  const { store: restored } = await openTestStore(t, { dataDir: restoredDir });
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

  // The unfinished file of an interrupted backup does not prevent the next backup.
  const next = join(dataDir, 'next');
  await writeFile(`${next}.unfinished`, 'half of it');
  await store.backup(next);
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.startsWith('next')),
    ['next'],
  );
});

test('restoring keeps the replaced database as a private file, with the changes that were still in its WAL', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  const old = account({ username: 'old' });
  await addAccount(store.accounts, old);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  const recent = account({ username: 'recent', createdAt: old.createdAt + 1 });
  await addAccount(store.accounts, recent);
  await store.close();

  const { replaced: kept } = await restoreStore({ client: sqliteClient, dataDir, from, now });
  assert.ok(kept);
  assert.equal(kept, `${file}.replaced-2030-01-02T03-04-05.006Z`);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(
    (await readdir(dataDir)).sort(),
    ['backup', 'pulsegate.db', 'pulsegate.lock', basename(kept)].sort(),
  );
  const { store: restored } = await openTestStore(t, { dataDir });
  assert.deepEqual(await restored.accounts.all(), [old]);
  await restored.close();

  await restoreStore({ client: sqliteClient, dataDir, from: kept, now: () => now() + 1 });
  const { store: restoredAgain } = await openTestStore(t, { dataDir });
  assert.deepEqual(await restoredAgain.accounts.all(), [old, recent]);
});

test('restoring is refused while another program has the database open, even idle', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  const player = account();
  await addAccount(store.accounts, player);
  const before = await readdir(dataDir);
  await assert.rejects(restoreStore({ client: sqliteClient, dataDir, from, now }), {
    name: 'StartError',
    code: 'database-in-use',
  });
  assert.deepEqual((await readdir(dataDir)).sort(), [...before, 'pulsegate.lock'].sort());
  assert.deepEqual(await store.accounts.all(), [player]);
  await store.accounts.removeMany([player.id]);
});

test('restoring over a damaged database works, and keeps the damaged files', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  await store.settings.set('key', 'value');
  const from = join(dataDir, 'backup');
  await store.backup(from);
  await store.close();
  await writeFile(file, 'damaged '.repeat(1000));
  await writeFile(`${file}-wal`, 'damaged log');
  const { replaced: kept } = await restoreStore({ client: sqliteClient, dataDir, from, now });
  assert.ok(kept);
  assert.equal(await readFile(kept, 'utf8'), 'damaged '.repeat(1000));
  const { store: restored } = await openTestStore(t, { dataDir });
  assert.equal(await restored.settings.get('key'), 'value');
});

test('a file that is not a backup is refused, and nothing is changed', async (t) => {
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
    await assert.rejects(
      restoreStore({ client: sqliteClient, dataDir, from: path(name), now }),
      { code: 'backup-unusable' },
      name,
    );
  }
  assert.deepEqual(await readdir(dataDir), before);
  assert.equal((await readdir(sources)).includes('missing'), false);
  const { store: reopened } = await openTestStore(t, { dataDir });
  assert.equal(await reopened.settings.get('key'), 'value');
});

test('a backup of a newer version is refused', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const from = join(dataDir, 'backup');
  await store.backup(from);
  await store.close();
  const newer = connectBeside(t, from);
  await newer('schema_migrations').insert({ name: '9999_future', batch: 9, migration_time: new Date() });
  await newer.destroy();
  await assert.rejects(restoreStore({ client: sqliteClient, dataDir, from, now }), {
    code: 'database-newer',
  });
});

/** Backs up a store with a console session, a token, a queued run, a running one, and one whose reply is not delivered. */
async function backUpOpenWork(t: TestContext) {
  const { store, dataDir } = await openTestStore(t);
  const at = now();
  await store.consoleSessions.add(
    {
      hash: 'h',
      username: 'admin',
      address: '::1',
      createdAt: at,
      usedAt: at,
      confirmedAt: at,
      credentials: 'c',
      operatorId: null,
    },
    null,
  );
  const token = {
    id: 't',
    name: 'n',
    prefix: 'p',
    hash: 'h',
    scopes: ['accounts:read'],
    createdAt: at,
  } as const;
  const audit = {
    by: DAEMON,
    action: 'token.create',
    object: { type: 'token', id: 't', name: 'n' },
    before: null,
    after: null,
  } as const;
  const unused = { expiresAt: null, lastUsedAt: null, lastUsedFrom: null };
  await store.apiTokens.add({ ...token, ...unused, operatorId: null }, 9, audit);
  await store.runs.renewLease({ id: 'runner', host: 'h', pid: 1, pidStart: '1', seenAt: at });
  const ids: string[] = [];
  for (const session of ['queued', 'running', 'ended']) {
    const run = {
      kind: 'message',
      agent: 'a',
      session,
      message: 'm',
      origin: 'api',
      rerunOf: null,
      acceptedAt: at,
    } as const;
    const [stored] = await store.runs.add([{ run, node: 'runner', idempotency: null }], at);
    if (stored?.outcome === 'stored') ids.push(stored.runId);
  }
  await store.runs.claim(ids.slice(1), 'runner', at);
  const end = { status: 'succeeded', finishedAt: at, reply: 'r', error: null, deliver: true } as const;
  await store.runs.finish([{ id: String(ids[2]), end }], 'runner', { maxMessages: 10, maxBytes: 1000 });
  const from = join(dataDir, 'backup');
  await store.backup(from);
  return { from, ids };
}

async function restoredContents(
  t: TestContext,
  options: Pick<RestoreOptions, 'from' | 'keep'>,
  ids: string[],
) {
  const dataDir = await tempDir(t);
  const restored = await restoreStore({ client: sqliteClient, dataDir, now, ...options });
  const { store } = await openTestStore(t, { dataDir });
  const runs = await Promise.all(ids.map((id) => store.runs.get(id)));
  return {
    restored,
    sessions: (await store.consoleSessions.all()).length,
    tokens: (await store.apiTokens.all()).length,
    runs: runs.map((run) => `${run?.status} ${run?.delivery}`),
    adopted: (await store.runs.adopt('new', 10)).map(({ id }) => id),
    due: (await store.deliveries.due('new', Number.MAX_SAFE_INTEGER, 10)).map(({ id }) => id),
  };
}

test('a restored backup contains no console sessions, no tokens and no open runs', async (t) => {
  const { from, ids } = await backUpOpenWork(t);
  const { restored, ...contents } = await restoredContents(t, { from }, ids);
  assert.deepEqual(restored.found, { consoleSessions: 1, tokens: 1, runs: 3 });
  assert.deepEqual(contents, {
    sessions: 0,
    tokens: 0,
    runs: ['cancelled none', 'cancelled none', 'succeeded none'],
    adopted: [],
    due: [],
  });
});

test('tokens and open runs are restored on request; console sessions never', async (t) => {
  const { from, ids } = await backUpOpenWork(t);
  const keep = async () => ({ tokens: true, runs: true });
  const { restored, ...contents } = await restoredContents(t, { from, keep }, ids);
  assert.deepEqual(restored.kept, { tokens: true, runs: true });
  assert.deepEqual(contents, {
    sessions: 0,
    tokens: 1,
    runs: ['queued none', 'queued none', 'succeeded pending'],
    adopted: ids.slice(0, 2),
    due: ids.slice(2),
  });
});
