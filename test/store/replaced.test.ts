// Another file comes to the place of the database that the daemon has open, or that it left with a write-ahead log when it was killed:
// the log of one file is never applied to another one, and the log of a killed daemon is never lost.
import assert from 'node:assert/strict';
import { copyFile, cp, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { keptDataDir, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';

const SET_ASIDE = 'database was replaced; write-ahead log of the previous one set aside';

function start(t: TestContext, dataDir: string): Promise<TestDaemon> {
  return startTestDaemon(t, { dataDir, config: { stopTimeout: '5s', database: { checkInterval: '100ms' } } });
}

async function add(daemon: TestDaemon, pattern: string): Promise<void> {
  const { status, text } = await daemon.api('POST', '/api/v1/accounts/batch', { pattern });
  assert.ok(status < 300, text);
}

async function count(daemon: TestDaemon): Promise<number> {
  const { status, text, json } = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
  assert.equal(status, 200, text);
  return (json as unknown[]).length;
}

async function backUp(daemon: TestDaemon, name: string): Promise<string> {
  const file = join(dirname(daemon.dataDir), name);
  const { code, stderr } = await runCommand(daemon.dataDir, ['backup', file, '--config', daemon.configFile]);
  assert.equal(code, 0, stderr);
  return file;
}

async function becomes(daemon: TestDaemon, problem: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${daemon.adminUrl}/readyz`);
    assert.equal((await answer.text()).trim(), `not ready: ${problem}`);
  });
}

/** The daemon that starts on the folder uses the file that is there, and says that it set a log aside. */
async function usesOther(t: TestContext, dataDir: string, accounts: number): Promise<TestDaemon> {
  const daemon = await start(t, dataDir);
  assert.equal(await count(daemon), accounts);
  const said = daemon.lines.filter(({ msg }) => msg === SET_ASIDE).map(({ path }) => path);
  assert.equal(said.length, 1);
  assert.ok((await readdir(dataDir)).some((name) => join(dataDir, name) === said[0]));
  return daemon;
}

async function stopWith(daemon: TestDaemon, signal: NodeJS.Signals): Promise<void> {
  daemon.signal(signal);
  await daemon.exited();
}

test('a backup that is renamed over the open database is used after the restart, also a large one, and also after database-gone', async (t) => {
  const dataDir = await keptDataDir(t);
  const file = join(dataDir, 'pulsegate.db');
  let daemon = await start(t, dataDir);
  const empty = await backUp(daemon, 'empty.db');
  await add(daemon, 'a{1-400}');
  await add(daemon, 'b{1-400}');
  const large = await backUp(daemon, 'large.db');
  await add(daemon, 'c{1-20}');
  await rename(large, file);
  await becomes(daemon, 'database-replaced');
  // New connections for lists must not open the new file beside the log either.
  await Promise.all(Array.from({ length: 4 }, () => daemon.api('GET', '/api/v1/accounts?search=a')));
  const command = await runCommand(dataDir, [
    'account',
    'add',
    'x',
    '--generate',
    '--config',
    daemon.configFile,
  ]);
  assert.match(command.stderr, /Another file has replaced the database file.*Restart the daemon/);
  await stopWith(daemon, 'SIGTERM');
  daemon = await usesOther(t, dataDir, 800);

  await add(daemon, 'd{1-20}');
  await rename(file, `${file}.away`);
  await becomes(daemon, 'database-gone');
  await rename(empty, file);
  await stopWith(daemon, 'SIGTERM');
  await usesOther(t, dataDir, 0);
});

test('a backup that is copied over the database of a killed daemon is used; its own log is not lost, even in a copy of the folder', async (t) => {
  const dataDir = await keptDataDir(t);
  const file = join(dataDir, 'pulsegate.db');
  let daemon = await start(t, dataDir);
  await add(daemon, 'a{1-3}');
  const backup = await backUp(daemon, 'three.db');
  await add(daemon, 'b{1-3}');
  await stopWith(daemon, 'SIGKILL');
  const copy = join(dirname(dataDir), 'copy');
  await cp(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await copyFile(backup, file);
  daemon = await usesOther(t, dataDir, 3);
  await stopWith(daemon, 'SIGTERM');

  daemon = await start(t, copy);
  assert.deepEqual([await count(daemon), daemon.lines.some(({ msg }) => msg === SET_ASIDE)], [6, false]);
  await add(daemon, 'c{1-3}');
  await stopWith(daemon, 'SIGKILL');
  await copyFile(backup, join(copy, 'pulsegate.db'));
  const restored = await runCommand(copy, ['restore', backup, '--yes', '--config', daemon.configFile]);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /write-ahead log of the file before that is in .*set-aside-/);
  daemon = await start(t, copy);
  assert.equal(await count(daemon), 3);
});
