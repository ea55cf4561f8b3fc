// The database is lost while the daemon runs: /readyz names it, the log says so once and once that it is over, and no change is
// answered with 200 that would be lost.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectSqlite } from '../../src/store/sqlite.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';

const config = { stopTimeout: '500ms', database: { busyTimeout: '100ms', checkInterval: '100ms' } };

/** Waits until /readyz answers so. */
function ready(daemon: TestDaemon, expected: string): Promise<void> {
  return eventually(async () => {
    const answer = await fetch(`${daemon.adminUrl}/readyz`);
    assert.equal(`${answer.status} ${(await answer.text()).trim()}`, expected);
  });
}

/** Runs `work` while the daemon must say `problem`, then waits until it is over; returns what the log said meanwhile. */
async function outage(
  daemon: TestDaemon,
  problem: string,
  begin: () => Promise<unknown>,
  end: () => Promise<unknown>,
) {
  const before = daemon.lines.length;
  await begin();
  await ready(daemon, `503 not ready: ${problem}`);
  const added = await daemon.api('POST', '/ProxyAccount/AddProxyAccount', {
    Username: problem,
    Password: 'x',
  });
  // Long enough for what works in the background to fail several times.
  await new Promise((resolve) => setTimeout(resolve, 600));
  await end();
  await ready(daemon, '200 ok');
  await eventually(() => daemon.lines.slice(before).some(({ msg }) => msg === 'database recovered'));
  const said = daemon.lines
    .slice(before)
    .filter(({ level, msg }) => level === 'error' || msg.startsWith('database'));
  return {
    status: added.status,
    said: said.map(({ msg, problem: what }) => (what ? `${msg}: ${what}` : msg)),
  };
}

test('missing, replaced, locked, damaged: logged once with the cause, and recovered afterwards', async (t) => {
  const daemon = await startTestDaemon(t, { config });
  const file = join(daemon.dataDir, 'pulsegate.db');
  await ready(daemon, '200 ok');
  const back = () => rename(`${file}.away`, file);
  const away = () => rename(file, `${file}.away`);

  const refused = (said: readonly string[]) => said.filter((line) => !line.startsWith('database'));
  const gone = await outage(daemon, 'database-gone', away, back);
  assert.equal(gone.status, 500);
  assert.deepEqual(
    gone.said.filter((line) => line.startsWith('database')),
    ['database lost: database-gone', 'database recovered'],
  );
  // The request that was refused, and nothing of what works in the background.
  assert.equal(refused(gone.said).length, 1, JSON.stringify(gone.said));

  const replace = async () => {
    await away();
    await copyFile(`${file}.away`, file);
  };
  const replaced = await outage(daemon, 'database-replaced', replace, back);
  assert.equal(replaced.status, 500);
  assert.ok(replaced.said.includes('database lost: database-replaced'));

  const holder = connectSqlite('sqlite3', file, 1000);
  t.after(() => holder.destroy());
  const locked = await outage(
    daemon,
    'database-locked',
    () => holder.raw('begin immediate').then(),
    () => holder.raw('rollback').then(),
  );
  assert.equal(locked.status, 500);
  assert.deepEqual(
    locked.said.filter((line) => line.startsWith('database')),
    ['database lost: database-locked', 'database recovered'],
  );
  assert.equal(refused(locked.said).length, 1, JSON.stringify(locked.said));

  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(4096, 0xa5), 0, 4096, 0);
  await handle.close();
  await ready(daemon, '503 not ready: database-corrupt');
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), 3);
});

test('a full disk: logged, and recovered with free space; a start on it fails with the reason', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', folder], { stdio: 'ignore' });
  } catch {
    await rm(folder, { recursive: true });
    return t.skip('this user may not mount a tmpfs');
  }
  t.after(async () => {
    execFileSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  });
  const daemon = await startTestDaemon(t, { config, dataDir: join(folder, 'data') });
  const ballast = join(folder, 'ballast');
  const full = await outage(
    daemon,
    'disk-full',
    () => writeFile(ballast, Buffer.alloc(8 << 20)).catch(() => undefined),
    () => rm(ballast),
  );
  assert.deepEqual(
    full.said.filter((line) => line.startsWith('database')),
    ['database lost: disk-full', 'database recovered'],
  );
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), 0);

  await writeFile(ballast, Buffer.alloc(8 << 20)).catch(() => undefined);
  for (const dataDir of [join(folder, 'data'), join(folder, 'new')]) {
    await assert.rejects(
      startTestDaemon(t, { config, dataDir }),
      /There is no space left for the database/,
      dataDir,
    );
  }
});
