// Opening the store: permissions of its files, and every reason not to start, which leaves the file unchanged.
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StartError } from '../../src/core/errors.js';
import { toStartError } from '../../src/store/sqlite/errors.js';
import { openStore, type Store } from '../../src/store/store.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { addAccount } from '../helpers/stored-accounts.js';
import { account, connectBeside, heartbeat, KEEP_ALL, openTestStore, tempDir } from './helpers.js';

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** Runs `work` with the process's umask changed. */
async function withUmask<T>(umask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(umask);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

async function refusal(dataDir: string, busyTimeoutMs = 200): Promise<StartError> {
  const error: unknown = await openStore({ dataDir, client: sqliteClient, busyTimeoutMs }).then(
    () => assert.fail('the store opened'),
    (reason) => reason,
  );
  assert.ok(error instanceof StartError, String(error));
  return error;
}

for (const umask of [0o000, 0o022, 0o777]) {
  test(`the data folder has mode 0700 and its files 0600 under umask ${umask.toString(8)}`, async (t) => {
    const dataDir = join(await tempDir(t), 'data');
    await withUmask(umask, async () => {
      const { store, file } = await openTestStore(t, { dataDir });
      await store.settings.set('key', 'value');
      assert.equal(await mode(dataDir), '700');
      for (const name of [file, `${file}-wal`, `${file}-shm`]) assert.equal(await mode(name), '600', name);
      await store.backup(join(dataDir, 'backup'));
      assert.equal(await mode(join(dataDir, 'backup')), '600');
    });
  });
}

test('parent folders of the data folder are created too, with mode 0700', async (t) => {
  const above = join(await tempDir(t), 'a');
  await openTestStore(t, { dataDir: join(above, 'b', 'c') });
  for (const folder of [above, join(above, 'b'), join(above, 'b', 'c')]) {
    assert.equal(await mode(folder), '700', folder);
  }
});

const onLinux = { skip: process.platform !== 'linux' };
for (const dataDir of ['/proc/self/nope/x', '/proc/nope', '/dev/null/x']) {
  test(`a folder that cannot be created fails the start with its path: ${dataDir}`, onLinux, async () => {
    const { code, message } = await refusal(dataDir);
    assert.equal(code, 'data-dir-unusable');
    assert.ok(message.includes(`${dataDir}/pulsegate.db`), message);
  });
}

test('the permissions of an existing data folder and its files are restricted', async (t) => {
  const { store: holder, dataDir, file } = await openTestStore(t);
  await holder.settings.set('key', 'value');
  const all = [file, `${file}-wal`, `${file}-shm`];
  await chmod(dataDir, 0o755);
  for (const name of all) await chmod(name, 0o644);
  const { store } = await openTestStore(t, { dataDir });
  assert.equal(await mode(dataDir), '700');
  for (const name of all) assert.equal(await mode(name), '600', name);
  assert.equal(await store.settings.get('key'), 'value');
});

test('the file is in WAL mode, synced at every commit, with foreign keys enforced', async (t) => {
  const { store, file } = await openTestStore(t);
  await store.ping();
  const otherConnection = connectBeside(t, file);
  assert.deepEqual(await otherConnection.raw('pragma journal_mode'), [{ journal_mode: 'wal' }]);
  assert.deepEqual(await otherConnection.raw('pragma synchronous'), [{ synchronous: 2 }]);
  const orphan = {
    at: 1,
    account_id: 'nobody',
    username: 'x',
    session_id: 'x',
    client: 'x',
    destination: 'x',
  };
  await assert.rejects(
    otherConnection('heartbeats')
      .insert({ ...orphan, protocol: 'tcp', bytes_up: 0, bytes_down: 0, kind: 'beat' })
      .then(),
    { code: 'SQLITE_CONSTRAINT' },
  );
});

test('a closed store rejects queries', async (t) => {
  const { store } = await openTestStore(t);
  await store.close();
  await assert.rejects(store.ping());
});

test('a data folder that cannot be created is reported with its path', async (t) => {
  const plainFile = join(await tempDir(t), 'file');
  await writeFile(plainFile, '');
  for (const dataDir of [plainFile, join(plainFile, 'data')]) {
    const error = await refusal(dataDir);
    assert.equal(error.code, 'data-dir-unusable');
    assert.ok(error.message.includes(join(dataDir, 'pulsegate.db')), error.message);
    assert.ok(error.cause);
  }
});

test('a data folder that is not writable is reported', {
  skip: process.getuid?.() === 0 && 'root writes anywhere',
}, async (t) => {
  const dataDir = await tempDir(t);
  await chmod(dataDir, 0o500);
  assert.equal((await refusal(dataDir)).code, 'data-dir-unusable');
});

test('a folder instead of the database file is reported', async (t) => {
  const dataDir = await tempDir(t);
  await mkdir(join(dataDir, 'pulsegate.db'));
  assert.equal((await refusal(dataDir)).code, 'data-dir-unusable');
});

/** Makes a database of several pages and closes it. */
async function writtenFile(t: TestContext): Promise<{ dataDir: string; file: string }> {
  const { store, dataDir, file } = await openTestStore(t);
  const player = account();
  await addAccount(store.accounts, player);
  await store.heartbeats.append(
    Array.from({ length: 500 }, () => heartbeat(player)),
    KEEP_ALL,
  );
  await store.close();
  return { dataDir, file };
}

const damages: [string, (file: string) => Promise<void>][] = [
  ['a text file', (file) => writeFile(file, 'not a database, but longer than the header of one '.repeat(50))],
  ['a truncated file', async (file) => truncate(file, Math.floor((await stat(file)).size / 2 / 4096) * 4096)],
  ['a file with a damaged schema', (file) => overwrite(file, 100, 2000)],
  ['a file with one damaged page', async (file) => overwrite(file, (await stat(file)).size - 4096, 4096)],
];

for (const [what, damage] of damages) {
  test(`the start is refused, and the file kept unchanged, when the database is ${what}`, async (t) => {
    const { dataDir, file } = await writtenFile(t);
    await damage(file);
    const before = await readFile(file);
    const error = await refusal(dataDir);
    assert.equal(error.code, 'database-corrupt');
    assert.match(error.message, /pulsegate restore/);
    assert.ok(error.message.includes(file));
    assert.deepEqual(await readFile(file), before);
  });
}

async function overwrite(file: string, from: number, length: number): Promise<void> {
  const content = await readFile(file);
  await writeFile(file, content.fill(0xa5, from, from + length));
}

test("the start is refused, and the file kept unchanged, when the database is another program's", async (t) => {
  const dataDir = await tempDir(t);
  const file = join(dataDir, 'pulsegate.db');
  const other = connectBeside(t, file);
  await other.raw('create table songs (title text)');
  await other.destroy();
  const before = await readFile(file);
  assert.equal((await refusal(dataDir)).code, 'database-foreign');
  assert.deepEqual(await readFile(file), before);
});

test('a database of a newer version is refused with the name of the unknown migration', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  await store.close();
  const otherConnection = connectBeside(t, file);
  await otherConnection('schema_migrations').insert({
    name: '9999_future',
    batch: 9,
    migration_time: new Date(),
  });
  const error = await refusal(dataDir);
  assert.equal(error.code, 'database-newer');
  assert.match(error.message, /9999_future/);
});

test('a migration while another program holds the lock is reported as a locked database', async (t) => {
  const dataDir = await tempDir(t);
  const file = join(dataDir, 'pulsegate.db');
  const holder = connectBeside(t, file);
  await holder.raw('pragma journal_mode = wal');
  await holder.raw('begin immediate');
  const error = await refusal(dataDir);
  assert.equal(error.code, 'database-locked');
  await holder.raw('rollback');
  await (await openStore({ dataDir, client: sqliteClient, busyTimeoutMs: 200 })).close();
});

test('a database that is current opens and reads while another program holds the write lock', async (t) => {
  const { dataDir, file } = await writtenFile(t);
  const holder = connectBeside(t, file);
  await holder.raw('begin immediate');
  const { store } = await openTestStore(t, { dataDir, busyTimeoutMs: 100 });
  assert.equal((await store.accounts.all()).length, 1);
});

test('a write waits for the lock of another program', async (t) => {
  const { store, file } = await openTestStore(t);
  const holder = connectBeside(t, file);
  await holder.raw('begin immediate');
  let done = false;
  const adding = addAccount(store.accounts, account()).then((outcome) => {
    done = true;
    return outcome;
  });
  // A write that did not wait would be done before this query.
  await holder('accounts').select();
  assert.equal(done, false);
  await holder.raw('commit');
  assert.equal(await adding, 'added');
});

test('writes that wait together for the lock of another program fail together', async (t) => {
  const { store, dataDir, file } = await openTestStore(t, { busyTimeoutMs: 1000 });
  const { store: later } = await openTestStore(t, { dataDir, busyTimeoutMs: 1000 });
  const holder = connectBeside(t, file);
  await holder.raw('begin immediate');
  const ended: string[] = [];
  const add = (to: Store, name: string) =>
    assert.rejects(addAccount(to.accounts, account()), { code: 'SQLITE_BUSY' }).then(() => ended.push(name));
  const together = Array.from({ length: 8 }, () => add(store, 'together'));
  await together[0];
  // Has its whole wait before it: the others have none left.
  await Promise.all([...together, add(later, 'later')]);
  assert.equal(ended.at(-1), 'later');
  await holder.raw('rollback');
  assert.equal(await addAccount(store.accounts, account()), 'added');
});

test('a write that waited longer than the busy timeout fails, and later writes succeed', async (t) => {
  const { store, file } = await openTestStore(t, { busyTimeoutMs: 50 });
  const holder = connectBeside(t, file);
  await holder.raw('begin immediate');
  await assert.rejects(addAccount(store.accounts, account()), { code: 'SQLITE_BUSY' });
  await assert.rejects(store.settings.set('key', 'value'), { code: 'SQLITE_BUSY' });
  await store.ping();
  await holder.raw('rollback');
  assert.equal(await addAccount(store.accounts, account()), 'added');
});

test('a commit that fails is rolled back, and does not block the writes after it', async (t) => {
  const { store, file } = await openTestStore(t);
  const db = connectBeside(t, file);
  const commitFails = db.transaction(async (trx) => {
    await trx.raw('pragma defer_foreign_keys = on');
    await trx('heartbeat_totals').insert({ account_id: 'nobody', count: 1 });
  });
  await assert.rejects(commitFails, { code: 'SQLITE_CONSTRAINT' });
  await db.transaction(async (trx) => {
    await trx('settings').insert({ key: 'after', value: 'yes' });
  });
  assert.deepEqual(await store.heartbeats.totals(), []);
  assert.equal(await store.settings.get('after'), 'yes');
});

test('a store waits for a program that locks the file while the store is opened', async (t) => {
  const dataDir = await tempDir(t);
  const file = join(dataDir, 'pulsegate.db');
  const holder = connectBeside(t, file);
  await holder.raw('begin exclusive');
  const opening = openTestStore(t, { dataDir });
  // This connection waits longer than SQLite waits by itself (250 ms).
  await assert.rejects(connectBeside(t, file, 600).raw('pragma schema_version'), { code: 'SQLITE_BUSY' });
  await holder.raw('rollback');
  await opening;
});

test('several stores can open a new data folder at the same time', async (t) => {
  const dataDir = await tempDir(t);
  // Three: a connection that waits for the lock takes one of the four threads that node runs SQLite on.
  const opened = await Promise.all([1, 2, 3].map(() => openTestStore(t, { dataDir })));
  for (const { store } of opened) await addAccount(store.accounts, account());
  assert.equal((await opened[0]?.store.accounts.all())?.length, 3);
});

test('a full disk and missing permissions have a message with the path', () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code });
  for (const [code, expected] of [
    ['SQLITE_FULL', 'disk-full'],
    ['ENOSPC', 'disk-full'],
    ['EDQUOT', 'disk-full'],
    ['SQLITE_CANTOPEN', 'data-dir-unusable'],
    ['SQLITE_READONLY', 'data-dir-unusable'],
    ['EACCES', 'data-dir-unusable'],
    ['EROFS', 'data-dir-unusable'],
  ] as const) {
    const cause = withCode(code);
    const error = toStartError(cause, '/data/pulsegate.db');
    assert.equal(error.code, expected);
    assert.equal(error.cause, cause);
    assert.match(error.message, /\/data\/pulsegate\.db/);
  }
});
