// What only the daemon does with a database: it locks the data folder against other daemons, and copies the database before a migration.
import assert from 'node:assert/strict';
import { open, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { storageProblemOf } from '../../src/core/errors.js';
import { migratorConfig } from '../../src/store/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';
import { prepareSqlite } from '../../src/store/sqlite/connect.js';
import { type MigrationEvent, openDaemonStore, openStore } from '../../src/store/store.js';
import { eventually } from '../helpers/eventually.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { account, connectBeside, openTestStore, tempDir } from './helpers.js';

const options = (dataDir: string, events: MigrationEvent[] = []) =>
  ({
    dataDir,
    client: sqliteClient,
    busyTimeoutMs: 1000,
    onMigration: (event: MigrationEvent) => events.push(event),
  }) as const;

/** The names of the migrations that the file has. */
async function migrationsOf(t: TestContext, file: string): Promise<string[]> {
  return connectBeside(t, file)('schema_migrations').orderBy('id').pluck('name');
}

/** A database with one account, as the version before this one left it. */
async function olderDatabase(t: TestContext) {
  const dataDir = await tempDir(t);
  const file = join(dataDir, 'pulsegate.db');
  const player = account();
  const db = connectBeside(t, file);
  await prepareSqlite(db, file);
  await db.migrate.latest(migratorConfig('sqlite3', migrations.slice(0, -1)));
  await db('accounts').insert({
    id: player.id,
    username: player.username,
    password_hash: player.passwordHash,
    is_enabled: player.isEnabled,
    created_at: player.createdAt,
  });
  await db.destroy();
  return { dataDir, file, player };
}

test('a second daemon is refused with the process of the first; a command is not', async (t) => {
  const dataDir = await tempDir(t);
  const first = await openDaemonStore(options(dataDir));
  await assert.rejects(openDaemonStore(options(dataDir)), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'daemon-running');
    assert.match(error.message, new RegExp(`another daemon \\(process ${process.pid}\\)`));
    return true;
  });
  const elsewhere = await tempDir(t);
  await symlink(join(dataDir, 'pulsegate.db'), join(elsewhere, 'pulsegate.db'));
  await assert.rejects(openDaemonStore(options(elsewhere)), { code: 'daemon-running' });
  const command = await openStore(options(dataDir));
  await command.settings.set('by', 'command');
  assert.equal(await first.settings.get('by'), 'command');
  await command.close();
  await first.close();
  const next = await openDaemonStore(options(dataDir));
  await next.close();
});

// The time limit of the readers is longer than that of the test.
test('a scan for damage that runs does not delay the close', { timeout: 300_000 }, async (t) => {
  const dataDir = await tempDir(t);
  const reading = { readers: 2, timeoutMs: 600_000 };
  const store = await openDaemonStore({ ...options(dataDir), reading });
  const beside = connectBeside(t, join(dataDir, 'pulsegate.db'));
  // So many that the scan still runs after the check.
  await beside.transaction(async (trx) => {
    for (let table = 0; table < 500; table += 1) await trx.raw(`create table t${table} (x)`);
  });
  assert.equal(await store.check(), null);
  await store.close();
});

test('leftovers of a crash, such as a process id and a journal, do not prevent a start', async (t) => {
  const dataDir = await tempDir(t);
  await (await openDaemonStore(options(dataDir))).close();
  await writeFile(join(dataDir, 'pulsegate.pid'), '1\n');
  await writeFile(join(dataDir, 'pulsegate.lock-journal'), '');
  const store = await openDaemonStore(options(dataDir));
  assert.equal((await readFile(join(dataDir, 'pulsegate.pid'), 'utf8')).trim(), String(process.pid));
  await store.close();
});

test('a command does not change a database of an older version, and says what to do', async (t) => {
  const { dataDir, file } = await olderDatabase(t);
  const before = await migrationsOf(t, file);
  await assert.rejects(openStore(options(dataDir)), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'database-older');
    assert.ok(error.message.includes(String(migrations.at(-1)?.name)), error.message);
    assert.match(error.message, /restart the daemon with this version/);
    return true;
  });
  assert.deepEqual(await migrationsOf(t, file), before);
});

test('the daemon copies and migrates a database of an older version, and logs this; only one copy is kept', async (t) => {
  const { dataDir, file, player } = await olderDatabase(t);
  const copy = `${file}.before-migration`;
  await writeFile(copy, 'an earlier copy');
  const before = await migrationsOf(t, file);
  const newest = String(migrations.at(-1)?.name);
  const events: MigrationEvent[] = [];
  const store = await openDaemonStore(options(dataDir, events));
  assert.deepEqual(await store.accounts.all(), [player]);
  await store.close();
  assert.deepEqual(
    events.map(({ tookMs: _, ...event }: MigrationEvent & { tookMs?: number }) => event),
    [
      { kind: 'started', missing: [newest], copy },
      { kind: 'finished', ran: [newest] },
    ],
  );
  assert.deepEqual(await migrationsOf(t, copy), before);
  assert.equal((await stat(copy)).mode & 0o777, 0o600);
  assert.deepEqual(await migrationsOf(t, file), [...before, newest]);

  await (await openDaemonStore(options(dataDir, events))).close();
  assert.equal(events.length, 2);
});

test('the check of the database writes only when nothing was written since the last one', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  await store.close();
  const daemon = await openDaemonStore(options(dataDir));
  t.after(() => daemon.close());
  const claim = { name: 'node', folderId: 'folder', process: daemon.process, version: '1', leaseMs: 10_000 };
  const load = { sessions: 1, accountsOnline: 1, bytesPerSecondUp: 0, bytesPerSecondDown: 0 };
  assert.equal((await daemon.nodes.claim(claim)).ok, true);
  /** Whether the check changes the write-ahead log. */
  const writes = async (): Promise<boolean> => {
    const before = await readFile(`${file}-wal`);
    assert.equal(await daemon.check(), null);
    return !before.equals(await readFile(`${file}-wal`));
  };
  assert.equal(await writes(), true);
  const renewed = {
    addresses: { socks: [], admin: [], players: null },
    load: { ...load, cpuPercent: 0, databaseDelayMs: null },
  };
  assert.ok(await daemon.nodes.renew(claim, renewed));
  assert.equal(await writes(), false);
  assert.equal(await writes(), true);
});

test('the check of the database detects a damaged page that no query has read, and keeps reporting it', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  await store.close();
  const daemon = await openDaemonStore(options(dataDir));
  t.after(() => daemon.close());
  const otherConnection = connectBeside(t, file);
  const [found] = await otherConnection.raw("select rootpage from sqlite_master where name = 'logins'");
  const [size] = await otherConnection.raw('pragma page_size');
  await otherConnection.raw('pragma wal_checkpoint(truncate)');
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(64, 0xa5), 0, 64, (found.rootpage - 1) * size.page_size);
  await handle.close();

  await eventually(async () => assert.equal((await daemon.check())?.problem, 'database-corrupt'));
  assert.equal((await daemon.check())?.problem, 'database-corrupt');
  await assert.rejects(
    daemon.settings.set('x', 'y'),
    (error) => storageProblemOf(error) === 'database-corrupt',
  );
});
