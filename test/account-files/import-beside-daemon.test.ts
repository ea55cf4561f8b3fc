// A large import by the command line beside a running daemon: its accounts can log in within a second or so of its
// end, and whoever logs in meanwhile is not held up.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { scaled } from '../helpers/scale.js';
import { loggedInClient } from '../helpers/socks-client.js';

const ACCOUNTS = scaled(4_000);
/** The promise is a second; the rest is for a busy machine. */
const MAX_LAG_MS = 20_000;
/** A login needs a few milliseconds; what it must not do is to wait for the import. */
const MAX_LOGIN_MS = 10_000;

test(`${ACCOUNTS} accounts that the command line imports can log in a second later`, async (t) => {
  const daemon = await startTestDaemon(t);
  await daemon.addAccount('player', 'secret');
  const file = join(daemon.dataDir, 'import.csv');
  const rows = Array.from({ length: ACCOUNTS }, (_, n) => `import${n},secret${n},5,day`);
  await writeFile(file, `username,password,maxSessions,quotaPeriod\n${rows.join('\n')}\n`);

  let isOver = false;
  const importing = runCommand(daemon.dataDir, [
    'account',
    'import',
    file,
    '--config',
    daemon.configFile,
  ]).finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const before = performance.now();
    (await loggedInClient({ port: daemon.socks.port, username: 'player', password: 'secret' })).destroy();
    times.push(performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const ended = performance.now();
  const { code, stdout, stderr } = await importing;
  assert.equal(code, 0, stdout + stderr);

  const username = `import${ACCOUNTS - 1}`;
  const isKnown = async (): Promise<boolean> => {
    const { json } = await daemon.api('GET', `/api/v1/accounts?search=${username}`);
    return (json as { matched: number }).matched === 1;
  };
  while (!(await isKnown())) {
    assert.ok(performance.now() - ended < 60_000, 'it never came');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const password = `secret${ACCOUNTS - 1}`;
  (await loggedInClient({ port: daemon.socks.port, username, password })).destroy();
  const lag = performance.now() - ended;
  const slowest = Math.max(...times);
  t.diagnostic(
    `after ${lag.toFixed()} ms; ${times.length} logins meanwhile, the slowest ${slowest.toFixed()} ms`,
  );
  assert.ok(lag <= MAX_LAG_MS, `${lag} ms`);
  assert.ok(slowest <= MAX_LOGIN_MS, `${slowest} ms`);
});
