// Backups for download: one at a time, and their temporary file is removed.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { createBackup } from '../../../src/parts/admin/services.js';
import { openStore } from '../../../src/store/store.js';

test('one backup is made at a time, also after a crash left the file of an earlier one', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-backup-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const store = await openStore({ dataDir, client: 'auto', busyTimeoutMs: 1_000 });
  t.after(() => store.close());
  await writeFile(join(dataDir, 'backup-download.tmp'), 'from a crash');
  const database = { client: 'auto', busyTimeoutMs: 1_000 } as Parameters<typeof createBackup>[0]['database'];
  const backup = createBackup({ dataDir, database });
  const [first, second] = await Promise.all([backup(), backup()]);
  assert.equal(second, 'busy');
  assert.ok(typeof first === 'object');
  assert.match((await buffer(first)).toString('latin1', 0, 15), /^SQLite format 3$/);
  assert.ok(!(await readdir(dataDir)).includes('backup-download.tmp'));
  const next = await backup();
  assert.ok(typeof next === 'object');
  next.destroy();
  const pg = { client: 'pg' } as typeof database;
  assert.equal(await createBackup({ dataDir, database: pg })(), 'not-a-file');
});
