// Password guessing at the listener: what an attacker learns, how many attempts are allowed, and that others are not locked out.
// test/core/accounts/access/login.test.ts shows that every failed login costs the same work.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { greeting, login, RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';

const SUCCEEDED = '05020100';
const FAILED = '05020101';

/** Returns the replies to a greeting and one login from `source`, as hex. */
async function tryLogin(port: number, source: string, username: string, password: string): Promise<string> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    localAddress: source,
    allowHalfOpen: true,
    noDelay: true,
  });
  const client = new RawClient(socket);
  client.send(Buffer.concat([greeting(2), login(username, password)]));
  const answer = (await client.read(4)).toString('hex');
  client.destroy();
  return answer;
}

/** A day of the week on which no test runs. */
const dayAfterTomorrow = (): string =>
  new Date(Date.now() + 2 * 86_400_000).toUTCString().slice(0, 3).toLowerCase();

describe('password guessing', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    // The window does not end during the test, however slow the machine is.
    daemon = await startTestDaemon(scope, {
      config: {
        socks: {
          login: { maxFailuresPerSource: 20, maxFailuresPerUser: 5, failureWindow: '1h' },
          exitSuffix: ['jp'],
        },
      },
    });
    for (const name of ['anna', 'bert', 'cleo']) await daemon.addAccount(name, 'secret');
    await daemon.addAccount('disabled', 'secret', { IsEnabled: false });
    await daemon.addAccount('expired', 'secret', { ExpiresAt: '2020-01-01T00:00:00' });
    for (const [username, change] of [
      ['elsewhere', { allowedClients: ['192.0.2.1'] }],
      ['closed', { schedule: `${dayAfterTomorrow()} 00:00-24:00` }],
    ] as const) {
      const id = await daemon.addAccount(username, 'secret');
      assert.equal((await daemon.api('PATCH', `/api/v1/accounts/${id}`, change)).status, 200);
    }
  });

  it('gets the same reply for unknown names, wrong passwords, and disabled and expired accounts', async () => {
    for (const [username, password, reason] of [
      ['nobody', 'secret', 'unknown-user'],
      ['anna', 'guess!', 'wrong-password'],
      ['disabled', 'secret', 'disabled'],
      ['expired', 'secret', 'expired'],
    ] as const) {
      const client = await RawClient.connect(daemon.socks.port, '127.0.0.1', '127.0.1.9');
      client.send(Buffer.concat([greeting(2), login(username, password)]));
      assert.equal((await client.readToEnd()).toString('hex'), FAILED, username);
      assert.equal(await client.closed(), 'closed');
      await daemon.waitForLine((line) => line['user'] === username && line['reason'] === reason);
    }
  });

  it('is not assumed when the right password is refused for its address, its schedule or a closed account', async () => {
    const { port } = daemon.socks;
    const source = '127.0.1.5';
    for (const name of ['elsewhere', 'closed', 'disabled', 'expired'])
      for (let i = 0; i < 6; i += 1) assert.equal(await tryLogin(port, source, name, 'secret'), FAILED);
    const lines = () => daemon.lines.filter((line) => line['client'] === source);
    await eventually(() => assert.equal(lines().length, 24));
    assert.deepEqual(
      [...new Set(lines().map((line) => `${line.level} ${line.msg}: ${line['reason']}`))].sort(),
      ['client-not-allowed', 'disabled', 'expired', 'outside-schedule'].map(
        (reason) => `info login refused: ${reason}`,
      ),
    );
    assert.equal(await tryLogin(port, source, 'bert', 'secret'), SUCCEEDED);
    for (let i = 0; i < 5; i += 1) await tryLogin(port, source, 'closed', `guess-${i}`);
    await tryLogin(port, source, 'closed', 'secret');
    await daemon.waitForLine(
      (line) =>
        line['client'] === source && line['user'] === 'closed' && line['reason'] === 'blocked-address',
    );
  });

  it('is blocked after five failures of a name, for that source and name alone', async () => {
    const { port } = daemon.socks;
    for (let i = 0; i < 5; i += 1)
      assert.equal(await tryLogin(port, '127.0.1.1', 'anna', `guess-${i}`), FAILED);
    assert.equal(
      await tryLogin(port, '127.0.1.1', 'anna', 'secret'),
      FAILED,
      'the right password is refused, too',
    );
    assert.equal(
      await tryLogin(port, '127.0.1.2', 'anna', 'secret'),
      SUCCEEDED,
      'the account can be used from another source',
    );
    assert.equal(
      await tryLogin(port, '127.0.1.1', 'bert', 'secret'),
      SUCCEEDED,
      'other accounts can be used from this source',
    );
    const line = await daemon.waitForLine(
      (each) => each['reason'] === 'blocked-address' && each['client'] === '127.0.1.1',
    );
    assert.deepEqual([line.msg, line['user']], ['login failed', 'anna']);
  });

  it('is blocked after five failures of a name also with other exits after it', async () => {
    const { port } = daemon.socks;
    for (let i = 0; i < 5; i += 1)
      assert.equal(await tryLogin(port, '127.0.1.44', `cleo+${i}`, 'guess'), FAILED);
    assert.equal(await tryLogin(port, '127.0.1.44', 'cleo', 'secret'), FAILED);
    assert.equal(await tryLogin(port, '127.0.1.45', 'cleo', 'secret'), SUCCEEDED);
  });

  it('is blocked after twenty failures of a source, also for concurrent attempts, and few of them are logged', async () => {
    const { port } = daemon.socks;
    const linesBefore = daemon.lines.length;
    const names = Array.from({ length: 300 }, (_, i) => `nobody-${i}`);
    const answers = await Promise.all(names.map((name) => tryLogin(port, '127.0.1.3', name, 'x')));
    assert.ok(answers.every((answer) => answer === FAILED));
    assert.equal(await tryLogin(port, '127.0.1.3', 'cleo', 'secret'), FAILED);
    assert.equal(await tryLogin(port, '127.0.1.4', 'cleo', 'secret'), SUCCEEDED);
    // This line is logged once a second, after the lines of single attempts.
    await daemon.waitForLine((line) => line.msg === 'logins of blocked addresses refused');
    const linesOf = () => daemon.lines.slice(linesBefore).filter((line) => line['client'] === '127.0.1.3');
    await eventually(() => assert.equal(linesOf().length, 21));
  });
});

it('failed logins are forgotten at the end of failureWindow', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: { socks: { login: { maxFailuresPerUser: 5, failureWindow: '1s' } } },
  });
  await daemon.addAccount('anna', 'secret');
  const { port } = daemon.socks;
  // The guesses are repeated when a busy machine needs more than the window of one second for them.
  await eventually(async () => {
    await Promise.all(Array.from({ length: 5 }, (_, i) => tryLogin(port, '127.0.1.1', 'anna', `guess-${i}`)));
    return (await tryLogin(port, '127.0.1.1', 'anna', 'secret')) === FAILED;
  });
  await eventually(async () => (await tryLogin(port, '127.0.1.1', 'anna', 'secret')) === SUCCEEDED);
});
