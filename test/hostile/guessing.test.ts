// Guessing at the listener: what an attacker learns, how often he may try, and what he can do to others. That a failed
// login costs the same work whatever its reason is shown in test/core/accounts/login.test.ts, without a clock.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { greeting, login, RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';

const SUCCEEDED = '05020100';
const FAILED = '05020101';

/** The answers to a greeting and one login from `source`, as hex. */
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

/** No test lasts until then. */
const dayAfterTomorrow = (): string =>
  new Date(Date.now() + 2 * 86_400_000).toUTCString().slice(0, 3).toLowerCase();

describe('guessing', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    // A window that does not pass during the test, however slow the machine is.
    daemon = await startTestDaemon(scope, {
      config: { socks: { login: { maxFailuresPerSource: 20, maxFailuresPerUser: 5, failureWindow: '1h' } } },
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

  it('replies with the same bytes for unknown names, wrong passwords and disabled accounts', async () => {
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

  it('is not what the owner of an account does that may not be used from there or now', async () => {
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

  it('of one password is over after five tries, for that source and name alone', async () => {
    const { port } = daemon.socks;
    for (let i = 0; i < 5; i += 1)
      assert.equal(await tryLogin(port, '127.0.1.1', 'anna', `guess-${i}`), FAILED);
    assert.equal(await tryLogin(port, '127.0.1.1', 'anna', 'secret'), FAILED, 'the right one came too late');
    assert.equal(
      await tryLogin(port, '127.0.1.2', 'anna', 'secret'),
      SUCCEEDED,
      'anna herself is not locked out',
    );
    assert.equal(
      await tryLogin(port, '127.0.1.1', 'bert', 'secret'),
      SUCCEEDED,
      'nor are others at that address',
    );
    const line = await daemon.waitForLine(
      (each) => each['reason'] === 'blocked-address' && each['client'] === '127.0.1.1',
    );
    assert.deepEqual([line.msg, line['user']], ['login failed', 'anna']);
  });

  it('of names is over after twenty, all sent at once, and the log stays short', async () => {
    const { port } = daemon.socks;
    const linesBefore = daemon.lines.length;
    const names = Array.from({ length: 300 }, (_, i) => `nobody-${i}`);
    const answers = await Promise.all(names.map((name) => tryLogin(port, '127.0.1.3', name, 'x')));
    assert.ok(answers.every((answer) => answer === FAILED));
    assert.equal(await tryLogin(port, '127.0.1.3', 'cleo', 'secret'), FAILED);
    assert.equal(await tryLogin(port, '127.0.1.4', 'cleo', 'secret'), SUCCEEDED);
    // Told once a second, after everything that is told at length.
    await daemon.waitForLine((line) => line.msg === 'logins of blocked addresses refused');
    const linesOf = () => daemon.lines.slice(linesBefore).filter((line) => line['client'] === '127.0.1.3');
    await eventually(() => assert.equal(linesOf().length, 21));
  });
});

it('failures are reset at the end of their window', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: { socks: { login: { maxFailuresPerUser: 5, failureWindow: '1s' } } },
  });
  await daemon.addAccount('anna', 'secret');
  const { port } = daemon.socks;
  // On a machine that is busy for a second between two of them, the guesses begin anew.
  await eventually(async () => {
    await Promise.all(Array.from({ length: 5 }, (_, i) => tryLogin(port, '127.0.1.1', 'anna', `guess-${i}`)));
    return (await tryLogin(port, '127.0.1.1', 'anna', 'secret')) === FAILED;
  });
  await eventually(async () => (await tryLogin(port, '127.0.1.1', 'anna', 'secret')) === SUCCEEDED);
});
