// Guessing at the listener: what an attacker learns, how often he may try, and what he can do to others.
// Runs alone: it measures how long logins take.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { workerOf } from '../../src/proxy/worker-of.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { scaled } from '../helpers/scale.js';
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

describe('guessing', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: { socks: { login: { maxFailuresPerSource: 20, maxFailuresPerUser: 5, failureWindow: '3s' } } },
    });
    for (const name of ['anna', 'bert', 'cleo']) await daemon.addAccount(name, 'secret');
  });

  it('of one password is over after five tries, for that source and name alone, and for a time', async () => {
    const { port } = daemon.socks;
    for (let i = 0; i < 5; i += 1)
      assert.equal(await tryLogin(port, '127.0.1.1', 'anna', `guess-${i}`), FAILED);
    const blockedAt = Date.now();
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
    while ((await tryLogin(port, '127.0.1.1', 'anna', 'secret')) !== SUCCEEDED) {
      assert.ok(Date.now() - blockedAt < 6_000, 'never forgiven');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const line = await daemon.waitForLine((each) => each['reason'] === 'blocked-address');
    assert.deepEqual([line.msg, line['client'], line['user']], ['login failed', '127.0.1.1', 'anna']);
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

describe('what failing looks like', () => {
  it('is the same bytes in the same time for unknown, wrong, disabled and expired', async (t) => {
    const generous = { maxFailuresPerSource: 1_000_000, maxFailuresPerUser: 1_000_000, failureWindow: '24h' };
    const running = await startTestDaemon(t, { config: { socks: { login: generous } } });
    await running.addAccount(named('wrong'), 'secret');
    await running.addAccount(named('disabled'), 'secret', { IsEnabled: false });
    await running.addAccount(named('expired'), 'secret', { ExpiresAt: '2020-01-01T00:00:00' });
    const cases = [
      ['unknown', named('nobody'), 'secret'],
      ['wrong', named('wrong'), 'guess!'],
      ['disabled', named('disabled'), 'secret'],
      ['expired', named('expired'), 'secret'],
    ] as const;
    const times = new Map<string, number[]>(cases.map(([name]) => [name, []]));
    const SAMPLES = scaled(600);
    // In turn, so that whatever else the machine does falls on all alike.
    for (let i = 0; i < SAMPLES; i += 1) {
      for (const [name, username, password] of i % 2 === 0 ? cases : [...cases].reverse()) {
        const client = await RawClient.connect(running.socks.port);
        client.send(greeting(2));
        await client.read(2);
        const startedAt = performance.now();
        client.send(login(username, password));
        assert.equal((await client.read(2)).toString('hex'), '0101');
        times.get(name)?.push(performance.now() - startedAt);
        client.destroy();
      }
    }
    const medians = Array.from(times, ([name, list]) => ({ name, ms: median(list) }));
    const [least, most] = [
      Math.min(...medians.map(({ ms }) => ms)),
      Math.max(...medians.map(({ ms }) => ms)),
    ];
    t.diagnostic(medians.map(({ name, ms }) => `${name} ${(ms * 1000).toFixed(0)} µs`).join(', '));
    assert.ok(most <= least * 1.1, JSON.stringify(medians));
  });
});

/** A user name that the first worker serves: which worker a name belongs to is no secret, and may show in the time. */
function named(stem: string): string {
  const workers = Number(process.env['TEST_WORKERS'] ?? 1);
  for (let i = 0; ; i += 1) if (workerOf(Buffer.from(`${stem}${i}`), workers) === 0) return `${stem}${i}`;
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;
}
