// A daemon and commands on a PostgreSQL database.
import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { commandLine } from '../helpers/command.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { newDatabase } from '../helpers/shared-postgres.js';
import { suiteScope } from '../helpers/suite.js';

describe('commands on an empty PostgreSQL database', async () => {
  const t = suiteScope();

  test('name the next step, and create the tables', async () => {
    const { folder, run } = await commandLine(t, 'database: { client: pg, connectionFile: connection }\n');
    const unreadable = await run(['doctor']);
    assert.match(unreadable.stdout + unreadable.stderr, /database.connectionFile: connection cannot be read/);
    await writeFile(join(folder, 'connection'), `${await newDatabase(t, { isEmpty: true })}\n`);
    await chmod(join(folder, 'connection'), 0o600);
    assert.equal((await run(['config', 'check'])).code, 0);
    assert.match((await run(['account', 'list'])).stderr, /has no Pulsegate tables/);
    assert.match((await run(['doctor'])).stdout, /database: opens; the tables will be created/);
    assert.equal((await run(['account', 'add', 'ann', '--password-stdin'], { stdin: 'secret' })).code, 0);
    assert.match((await run(['doctor'])).stdout, /database: opens; 1 accounts/);
    const stdin = 'Username,Password\nbob,secret\n';
    const imported = await run(['account', 'import', '-', '--format', 'csv'], { stdin });
    assert.equal(imported.code, 0, imported.stderr);
    const backup = await run(['backup', 'file']);
    assert.equal(backup.code, 2);
    assert.match(backup.stderr, /pg_dump -Fc/);
    const restore = await run(['restore', 'file', '--yes']);
    assert.equal(restore.code, 2);
    assert.match(restore.stderr, /pg_restore/);
  });

  test('refuse an ambiguous configuration of the database', async () => {
    const cases: [string, RegExp][] = [
      ['{ client: pg }', /database.connection/],
      ['{ client: pg, connection: "mysql://db/x" }', /postgres:\/\/pulsegate/],
      ['{ client: pg, connection: "postgres://db/x", connectionFile: f }', /database.connectionFile/],
      ['{ connection: "postgres://me:hunter2@db/x" }', /unless database.client is pg/],
    ];
    for (const [section, expected] of cases) {
      const { run } = await commandLine(t, `database: ${section}\n`);
      const { code, stderr } = await run(['config', 'check']);
      assert.equal(code, 2, section);
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /hunter2/);
    }
    const { run } = await commandLine(
      t,
      'database: { client: pg, connection: "postgres://me:hunter2@db/x" }\n',
    );
    assert.doesNotMatch((await run(['config', 'print'])).stdout, /hunter2/);
  });
});

test('a daemon on PostgreSQL keeps its accounts over a restart, and applies the change of a command', async (t) => {
  const connection = await newDatabase(t, { isEmpty: true });
  const database = { client: 'pg', connection, poolSize: 3 };
  const first = await startTestDaemon(t, { config: { database } });
  await first.addAccount('ann', 'secret', { Remarks: '玩家' });
  first.signal('SIGTERM');
  assert.equal(await first.exited(), 0);
  const second = await startTestDaemon(t, { config: { database } });
  assert.equal((await second.account('ann'))['Remarks'], '玩家');
  const { run } = await commandLine(t, `database: { client: pg, connection: "${connection}" }\n`);
  assert.equal((await run(['account', 'update', 'ann', '--remarks', 'changed'])).code, 0);
  await eventually(async () => (await second.account('ann'))['Remarks'] === 'changed');
  assert.equal((await fetch(`${second.adminUrl}/readyz`)).status, 200);
});
