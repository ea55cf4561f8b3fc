// After failed attempts at one node, every node refuses the source: players, the administrator, webhooks. One-time codes.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { codeOf, fetchFrom, signIn } from '../helpers/console.js';
import { ADMIN, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { type Fleet, startFleet } from '../helpers/fleet.js';
import { SECRET } from '../helpers/hooks.js';
import { basic, send } from '../helpers/http.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { fromBase32, totpCodes } from '../helpers/totp.js';

const MAX_FAILURES = 3;

describe('failed attempts at one of two nodes', async () => {
  const t = suiteScope();
  let fleet: Fleet;
  let one: TestDaemon;
  let two: TestDaemon;
  let targetPort = 0;
  before(async () => {
    const limits = { maxFailuresPerSource: MAX_FAILURES, failureWindow: '1h' };
    fleet = await startFleet(t, ['gate-1', 'gate-2'], {
      socks: { login: { maxFailuresPerSource: 5, maxFailuresPerUser: MAX_FAILURES, failureWindow: '1h' } },
      // Each test has its own source.
      admin: { attempts: limits, trustedProxies: ['127.0.0.1'] },
      webhooks: { enabled: true, secret: SECRET, agents: { a: {} }, ...limits },
      agents: { a: { type: 'command', command: ['true'] } },
    });
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
    targetPort = (await startTarget(t, echo)).port;
    for (const name of ['ann', 'bob']) await one.addAccount(name, 'word');
    const boundId = await one.addAccount('bound', 'word');
    const allowedClients = ['127.0.0.54'];
    assert.equal((await one.api('PATCH', `/api/v1/accounts/${boundId}`, { allowedClients })).status, 200);
    await eventually(async () => {
      const { text } = await two.api('GET', '/api/v1/accounts?search=bound');
      assert.match(text, /127\.0\.0\.54/);
    });
  });

  async function canLogIn({ socks }: TestDaemon, username: string, from: string, password = 'word') {
    const player = { port: socks.port, username, password, from };
    const client = await connectThrough(player, '127.0.0.1', targetPort).catch(() => null);
    client?.destroy();
    return client !== null;
  }

  test('a source that guesses the password of a player is refused at every node, and no other source is', async () => {
    const [guesser, other] = ['127.0.0.51', '127.0.0.52'];
    for (let n = 0; n < MAX_FAILURES; n += 1) assert.ok(!(await canLogIn(one, 'ann', guesser, 'guess')));
    await eventually(async () => !(await canLogIn(two, 'ann', guesser)));
    assert.ok(!(await canLogIn(one, 'ann', guesser)));
    assert.ok(await canLogIn(two, 'ann', other));
    assert.ok(await canLogIn(two, 'bob', guesser));
    // With two more failures the source reaches maxFailuresPerSource.
    for (const name of ['yan', 'zoe']) await canLogIn(one, name, guesser, 'guess');
    await eventually(async () => !(await canLogIn(two, 'bob', guesser)));
    // A node that starts later knows the penalty, too.
    const third = await fleet.start('gate-3');
    assert.ok(!(await canLogIn(third, 'bob', guesser)));
    assert.ok(await canLogIn(third, 'bob', other));
    third.signal('SIGTERM');
    assert.equal(await third.exited(), 0);
  });

  test('the right password from an address that the account does not allow is no failed attempt', async () => {
    const source = '127.0.0.53';
    for (let n = 0; n < 6; n += 1) assert.ok(!(await canLogIn(one, 'bound', source)));
    // Penalties arrive in order: after that of these failures, one for the attempts above would be here.
    for (let n = 0; n < MAX_FAILURES; n += 1) assert.ok(!(await canLogIn(one, 'ann', source, 'guess')));
    await eventually(async () => !(await canLogIn(two, 'ann', source)));
    assert.ok(await canLogIn(two, 'bob', source));
    assert.ok(await canLogIn(two, 'bound', '127.0.0.54'));
  });

  test('a source that guesses the password of the administrator is refused at the other node', async () => {
    const ask = async (node: TestDaemon, password: string, from = '192.0.2.7') => {
      const authorization = basic(ADMIN.username, password);
      const headers = { authorization, 'x-forwarded-for': from };
      return (await fetchFrom(node, 'GET', '/api/v1/accounts', headers)).status;
    };
    for (let n = 0; n < MAX_FAILURES; n += 1) assert.equal(await ask(one, 'guess'), 401);
    await eventually(async () => (await ask(two, ADMIN.password)) === 429);
    assert.equal(await ask(one, ADMIN.password), 429);
    assert.equal(await ask(two, ADMIN.password, '192.0.2.8'), 200);
  });

  test('a source that guesses the secret of webhooks is refused at the other node', async () => {
    const post = async (node: TestDaemon, secret: string, from = '192.0.2.17') => {
      const { status } = await send(`${node.adminUrl}/hooks/agent`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'x-forwarded-for': from,
        },
        body: JSON.stringify({ agent: 'a', message: 'x' }),
      });
      return status;
    };
    for (let n = 0; n < MAX_FAILURES; n += 1) assert.equal(await post(two, 'guess'), 401);
    await eventually(async () => (await post(one, SECRET)) === 429);
    assert.equal(await post(one, SECRET, '192.0.2.18'), 200);
  });

  test('a second factor can be enrolled over two nodes, and a code used at one is refused by the other', async () => {
    const signedIn = await signIn(one);
    const atTwo = { cookie: signedIn.cookie, origin: two.adminUrl };
    const { secret } = (await signedIn.api('POST', '/api/v1/session/totp')).json as { secret: string };
    const code = totpCodes(fromBase32(secret));
    const on = await fetchFrom(two, 'PUT', '/api/v1/session/totp', atTwo, { code: code(0) });
    assert.equal(on.status, 200, on.text);
    const signInWith = (node: TestDaemon, more: object) =>
      fetchFrom(node, 'POST', '/api/v1/session', {}, { ...ADMIN, ...more });
    await eventually(async () => codeOf(await signInWith(one, {})) === 'totp-required');
    const used = { code: code(1) };
    assert.equal((await signInWith(one, used)).status, 200);
    assert.equal((await signInWith(two, used)).status, 401);
  });
});
