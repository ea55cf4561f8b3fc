// Events to receivers: each type arrives once and signed, over kills and in a fleet; sellers get those of their own accounts, at
// addresses that the egress rules permit.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, test } from 'node:test';
import { codeOf } from '../../helpers/console.js';
import { ADMIN, type ApiAnswer, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { assertSigned, type Received, startReceiver } from '../../helpers/event-receiver.js';
import { eventually } from '../../helpers/eventually.js';
import { startFleet } from '../../helpers/fleet.js';
import { basic } from '../../helpers/http.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
const SELLER_PASSWORD = 'long-enough-password';
const RECEIVERS = '/api/v1/event-receivers';
const DELIVERIES = '/api/v1/event-deliveries';
const FAST = { notices: { lookEvery: '200ms' }, events: { backoff: '10ms', sessionBatch: '50ms' } };

function bodyOf(answer: ApiAnswer, status?: number): Json {
  assert.ok(
    status === undefined ? answer.status < 300 : answer.status === status,
    `${answer.status} ${answer.text}`,
  );
  return (answer.json ?? {}) as Json;
}
type Api = TestDaemon['api'];
const addReceiver = async (api: Api, url: string, types: readonly string[]) =>
  bodyOf(await api('POST', RECEIVERS, { url, types }), 201) as { id: string; secret: string };
const deliveries = async (api: Api, query = '') =>
  bodyOf(await api('GET', `${DELIVERIES}?${query}`))['items'] as (Json & {
    id: string;
    state: string;
    attempts: { delivered: boolean; detail: string }[];
  })[];
const typesOf = async (api: Api) => bodyOf(await api('GET', RECEIVERS))['types'] as string[];
const addAccount = async (api: Api, username: string, fields: Json = {}) => {
  const body = { username, password: 'word', ...fields };
  return bodyOf(await api('POST', '/api/v1/accounts', body), 201)['account'] as { id: string };
};

const ids = (received: readonly Received[]) =>
  received.map(({ json }) => `${json.type} ${JSON.stringify(json.data)}`);

describe('events', async () => {
  const scope = suiteScope();
  const sellerReceiver = await startReceiver(scope);
  const redirecting = createServer((_, response) =>
    response.writeHead(307, { location: sellerReceiver.url }).end(),
  );
  await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
  scope.after(() => redirecting.close());
  const portOf = (url: string) => new URL(url).port;
  const redirect = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/`;
  const allow = [`127.0.0.1:${portOf(sellerReceiver.url)}`, `127.0.0.1:${portOf(redirect)}`];
  const config = { ...FAST, events: { ...FAST.events, sellerPerHour: 20, maxTries: 1 }, egress: { allow } };
  const daemon = await startTestDaemon(scope, {
    config,
    operators: ['one', 'two'].map((name) => ({ name, password: SELLER_PASSWORD, role: 'seller' })),
  });
  const { api } = daemon;
  const apiOf = (name: string): Api => {
    const authorization = basic(name, SELLER_PASSWORD);
    return (method, path, body, headers) => api(method, path, body, { ...headers, authorization });
  };
  const [one, two] = [apiOf('one'), apiOf('two')];

  it('of each type of an account arrive once, with their data and signature', async (t) => {
    const receiver = await startReceiver(t);
    const { secret, id: receiverId } = await addReceiver(api, receiver.url, await typesOf(api));
    const { id } = await addAccount(api, 'alice', { expiresAt: '2099-01-01T00:00:00Z' });
    const path = `/api/v1/accounts/${id}`;
    const patch = async (change: Json) => bodyOf(await api('PATCH', path, change));
    await patch({ expiresAt: '2099-02-01T00:00:00Z' });
    await patch({ remarks: 'first' });
    await patch({ password: 'word' });
    const suspend = { ids: [id], action: { type: 'suspend', reason: 'unpaid' }, dryRun: false };
    bodyOf(await api('POST', '/api/v1/accounts/bulk', suspend));
    await patch({ suspendedUntil: null });
    await patch({ limits: { quotaBytes: 10, quotaPeriod: 'never' } });
    const target = await startTarget(t, echo);
    const client = await connectThrough(
      { port: daemon.socks.port, username: 'alice', password: 'word' },
      '127.0.0.1',
      target.port,
    );
    client.send(Buffer.alloc(20));
    client.destroy();
    for (const [type, count] of Object.entries({
      'account.created': 1,
      'account.renewed': 1,
      'account.changed': 3,
      'account.credentials': 1,
      'account.suspended': 1,
      'account.first-login': 1,
      'account.quota': 1,
      'session.opened': 1,
      'session.closed': 1,
    }))
      await receiver.waitFor(type, count);
    await patch({ expiresAt: new Date(Date.now() - 1_000).toISOString(), suspendedUntil: null });
    await receiver.waitFor('account.expired');
    bodyOf(await api('DELETE', path));
    const [removed] = await receiver.waitFor('account.removed');
    assert.deepEqual([removed?.json.data['account'], removed?.json.data['username']], [id, 'alice']);
    const [renewed] = await receiver.waitFor('account.renewed');
    assert.deepEqual(renewed?.json.data['after'], { expiresAt: '2099-02-01T00:00:00.000Z' });
    const signIn = await fetch(`${daemon.adminUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: ADMIN.username, password: ADMIN.password }),
    });
    assert.equal(signIn.status, 200);
    const [from] = await receiver.waitFor('operator.new-address');
    assert.equal(from?.json.data['address'], '127.0.0.1');
    for (const each of receiver.received) assertSigned(each, secret);
    assert.equal(
      new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size,
      receiver.received.length,
    );
    assert.equal(
      new Set(ids(receiver.received)).size,
      receiver.received.length,
      ids(receiver.received).join('\n'),
    );

    const renewedSecret = bodyOf(await api('PATCH', `${RECEIVERS}/${receiverId}`, { newSecret: true }))[
      'secret'
    ];
    assert.notEqual(renewedSecret, secret);
    assert.ok(!(await api('GET', RECEIVERS)).text.includes('whsec_'), 'only once');
    assert.deepEqual(bodyOf(await api('POST', `${RECEIVERS}/${receiverId}/test`)), {
      delivered: true,
      detail: 'HTTP 204',
    });
    assertSigned((await receiver.waitFor('test'))[0] as Received, String(renewedSecret));
    assert.ok(!(await api('GET', '/api/v1/audit')).text.includes('whsec_'));
  });

  it('of a seller are those of its own accounts, and go only to addresses that egress rules permit', async () => {
    assert.deepEqual(
      (await typesOf(one)).filter((type) => !/^(account|session)\./.test(type)),
      [],
    );
    const others = { url: sellerReceiver.url, types: ['account.created', 'node.lost'] };
    const own = await addReceiver(one, sellerReceiver.url, ['account.created']);
    for (const refused of [
      await one('POST', RECEIVERS, others),
      await one('PATCH', `${RECEIVERS}/${own.id}`, { types: others.types }),
    ]) {
      const [error] = bodyOf(refused, 400)['errors'] as Json[];
      assert.equal(error?.['path'], 'body.types.1');
      assert.match(String(error?.['message']), /^must be one of account\.created, .*account\.quota$/);
    }
    await addAccount(two, 'of two');
    await addAccount(daemon.api, 'of nobody');
    await addAccount(one, 'of one');
    await sellerReceiver.waitFor('account.created');
    assert.deepEqual(
      sellerReceiver.received.map(({ json }) => json.data['username']),
      ['of one'],
    );
    const [delivery] = await deliveries(one);
    assert.deepEqual(await deliveries(two), []);
    bodyOf(await two('POST', `${DELIVERIES}/${delivery?.id}/retry`), 404);
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ])
      bodyOf(
        await two(
          method ?? '',
          `${RECEIVERS}/${own.id}${path}`,
          method === 'PATCH' ? { isEnabled: false } : undefined,
        ),
        404,
      );

    const { port } = new URL(daemon.adminUrl);
    const refused = [
      'http://127.0.0.1:9/',
      'http://10.1.2.3/',
      'http://[::1]:9/',
      'http://[::ffff:127.0.0.1]/',
      'http://localhost:9/',
    ];
    for (const url of [...refused, `http://127.0.0.1:${port}/`, 'http://169.254.169.254/latest']) {
      bodyOf(await one('PATCH', `${RECEIVERS}/${own.id}`, { url }));
      const { detail } = bodyOf(await one('POST', `${RECEIVERS}/${own.id}/test`));
      assert.equal(detail, 'its address is not permitted', url);
      assert.equal((await deliveries(one))[0]?.attempts[0]?.detail, detail, 'also in the history');
    }
    bodyOf(await one('PATCH', `${RECEIVERS}/${own.id}`, { url: redirect }));
    const redirected = bodyOf(await one('POST', `${RECEIVERS}/${own.id}/test`));
    assert.deepEqual(redirected, { delivered: false, detail: 'HTTP 307' });
    const before = sellerReceiver.received.length;
    assert.equal(before, 1);
    await eventually(async () => {
      assert.equal(
        codeOf(await one('POST', `${RECEIVERS}/${own.id}/test`)),
        'conflict',
        'its share is used up',
      );
    });
    const admins = await addReceiver(daemon.api, sellerReceiver.url, ['account.created']);
    bodyOf(await daemon.api('POST', `${RECEIVERS}/${admins.id}/test`));
    assert.equal(sellerReceiver.received.length, 2);
  });
});

test('what a killed daemon could not deliver is delivered once by the next one, and can be sent again', async (t) => {
  const statuses: number[] = Array(100).fill(503);
  const receiver = await startReceiver(t, statuses);
  const config = { events: { backoff: '300ms' } };
  const daemon = await startTestDaemon(t, { config });
  await addReceiver(daemon.api, receiver.url, ['account.created']);
  await addAccount(daemon.api, 'alice');
  await eventually(async () => {
    const [waiting] = await deliveries(daemon.api, 'state=pending');
    assert.match(waiting?.attempts[0]?.detail ?? '', /503/, 'it waits for its next attempt');
  });
  daemon.signal('SIGKILL');
  await daemon.exited();
  statuses.length = 0;
  const restarted = await startTestDaemon(t, { config, dataDir: daemon.dataDir });
  const { api } = restarted;
  const [delivery] = await eventually(async () => {
    const found = await deliveries(api, 'state=delivered');
    assert.equal(found.length, 1);
    return found;
  });
  assert.match(delivery?.attempts[0]?.detail ?? '', /503/, 'the attempts of the killed daemon are kept');
  assert.match(delivery?.attempts.at(-1)?.detail ?? '', /204/);
  assert.equal(new Set(receiver.received.map(({ json }) => json.id)).size, 1, 'each attempt has the same id');
  const before = receiver.received.length;
  bodyOf(await api('POST', `${DELIVERIES}/${delivery?.id}/retry`), 204);
  await receiver.waitFor('account.created', before + 1);
});

test('attempts and kept deliveries are bounded', async (t) => {
  const receiver = await startReceiver(t, Array(100).fill(500));
  const events = { maxTries: 2, backoff: '10ms', maxReceivers: 1, keptPerReceiver: 2 };
  const { api } = await startTestDaemon(t, { config: { ...FAST, events } });
  const { id } = await addReceiver(api, receiver.url, ['account.created']);
  assert.equal(codeOf(await api('POST', RECEIVERS, { url: receiver.url, types: ['node.lost'] })), 'conflict');
  for (const name of ['a', 'b', 'c']) await addAccount(api, name);
  const kept = await eventually(async () => {
    const found = await deliveries(api, `state=failed&receiver=${id}`);
    assert.deepEqual(
      found.map(({ data }) => (data as Json)['username']),
      ['c', 'b'],
    );
    return found;
  });
  for (const { attempts } of kept) assert.equal(attempts.length, 2);
  bodyOf(await api('PATCH', `${RECEIVERS}/${id}`, { isEnabled: false }));
  await addAccount(api, 'd');
  bodyOf(await api('DELETE', `${RECEIVERS}/${id}`), 204);
  bodyOf(await api('POST', `${RECEIVERS}/${id}/test`), 404);
  assert.ok(
    receiver.received.every(({ json }) => json.data['username'] !== 'd'),
    'a receiver that is off',
  );
});

test('two daemons of one database send each event once', async (t) => {
  const receiver = await startReceiver(t);
  const { nodes } = await startFleet(t, ['gate-1', 'gate-2'], FAST);
  const [one, two] = nodes as [TestDaemon, TestDaemon];
  await addReceiver(one.api, receiver.url, await typesOf(one.api));
  const names = Array.from({ length: 12 }, (_, i) => `player-${i}`);
  await Promise.all(names.map((name, i) => addAccount((i % 2 ? one : two).api, name)));
  await receiver.waitFor('account.created', names.length);
  await addAccount(two.api, 'last');
  await eventually(() => assert.ok(receiver.received.some(({ json }) => json.data['username'] === 'last')));
  assert.equal(
    receiver.received.filter(({ json }) => json.type === 'account.created').length,
    names.length + 1,
  );
});
