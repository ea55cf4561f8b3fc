// A large import by the command line beside a running daemon: players log in while it lasts, and the imported accounts can log in
// after it.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { loginsDuring } from '../helpers/logins-during.js';
import { scaled } from '../helpers/scale.js';
import { loggedInClient } from '../helpers/socks-client.js';

const ACCOUNTS = scaled(4_000);

test(`players log in while the command line imports ${ACCOUNTS} accounts, which can log in afterwards`, async (t) => {
  const daemon = await startTestDaemon(t);
  await daemon.addAccount('player', 'secret');
  const file = join(daemon.dataDir, 'import.csv');
  const rows = Array.from({ length: ACCOUNTS }, (_, n) => `import${n},secret${n},5,day`);
  await writeFile(file, `username,password,maxSessions,quotaPeriod\n${rows.join('\n')}\n`);

  const importing = runCommand(daemon.dataDir, ['account', 'import', file, '--config', daemon.configFile]);
  const login = { port: daemon.socks.port, username: 'player', password: 'secret' };
  const loginsDuringImport = await loginsDuring(importing, login);
  const { code, stdout, stderr } = await importing;
  assert.equal(code, 0, stdout + stderr);
  // Logins that waited for the import would end after it.
  assert.ok(loginsDuringImport >= 10, `${loginsDuringImport} logins during the import`);

  const username = `import${ACCOUNTS - 1}`;
  await eventually(async () => {
    const { json } = await daemon.api('GET', `/api/v1/accounts?search=${username}`);
    return (json as { matched: number }).matched === 1;
  });
  const password = `secret${ACCOUNTS - 1}`;
  (await loggedInClient({ port: daemon.socks.port, username, password })).destroy();
});
