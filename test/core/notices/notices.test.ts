// Notices of the daemon to a webhook: each is signed, retried, and delivered once, also over a restart.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startTestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { connectThrough, loggedInClient } from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';

const KEY = Buffer.from('a key of some bytes');
interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: { id: string; type: string; data: Record<string, unknown> };
}

async function startReceiver(t: TestContext, statuses: number[] = []) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push({ headers: request.headers, body, json: JSON.parse(body) });
    response.statusCode = statuses.shift() ?? 204;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const waitFor = async (type: string, count = 1) => {
    const ofType = () => received.filter(({ json }) => json.type === type);
    const shown = () => `no ${type}: ${JSON.stringify(received.map(({ json }) => json))}`;
    await eventually(() => assert.ok(ofType().length >= count, shown()));
    return ofType();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received, waitFor };
}

const notices = (url: string) => ({
  url,
  secret: `whsec_${KEY.toString('base64')}`,
  lookEvery: '50ms',
  expiryDays: [3],
  backoff: '10ms',
  loginFailures: 3,
});

test('notices of expiry, quota and failed logins are sent once, and signed', async (t) => {
  const receiver = await startReceiver(t, [500]);
  const config = { timeZone: 'Asia/Shanghai', notices: notices(receiver.url) };
  const daemon = await startTestDaemon(t, { config });
  const settings = (await daemon.api('GET', '/api/v1/settings/notices')).json as { timeZone: string };
  assert.equal(settings.timeZone, 'Asia/Shanghai', 'until an operator sets another');
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  const later = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const id = await daemon.addAccount('alice', 'secret', { ExpiresAt: soon });
  await daemon.addAccount('bob', 'secret', { ExpiresAt: later });
  const [first, second] = await receiver.waitFor('account.expiring', 2);
  assert.ok(first && second);
  assert.equal(first.json.id, second.json.id, 'a retry has the same id');
  assert.deepEqual([second.json.data['account'], second.json.data['username']], [id, 'alice']);
  const { 'webhook-id': sentId, 'webhook-timestamp': at, 'webhook-signature': signature } = second.headers;
  const expected = createHmac('sha256', KEY).update(`${sentId}.${at}.${second.body}`).digest('base64');
  assert.equal(signature, `v1,${expected}`);

  const target = await startTarget(t, echo);
  await daemon.api('PATCH', `/api/v1/accounts/${id}`, {
    limits: { quotaBytes: 2_000, quotaPeriod: 'never' },
  });
  const account = { port: daemon.socks.port, username: 'alice', password: 'secret' };
  const transfer = async (bytes: number) => {
    const client = await connectThrough(account, '127.0.0.1', target.port);
    client.send(Buffer.alloc(bytes));
    await client.read(bytes);
    client.destroy();
  };
  await transfer(850);
  const [eighty] = await receiver.waitFor('account.quota-80');
  assert.equal(eighty?.json.data['used'], 85);
  await transfer(149);
  await transfer(1).catch(() => {});
  await receiver.waitFor('account.quota-100');

  for (let i = 0; i < 3; i++) await loggedInClient({ ...account, password: 'wrong' }).catch(() => {});
  const [failing] = await receiver.waitFor('logins.failing');
  assert.equal(failing?.json.data['client'], '127.0.0.1');
  const sent = receiver.received.length;
  daemon.signal('SIGTERM');
  await daemon.exited();
  const restarted = await startTestDaemon(t, { config, dataDir: daemon.dataDir });
  await restarted.addAccount('carol', 'secret', { ExpiresAt: soon });
  await receiver.waitFor('account.expiring', 3);
  assert.equal(receiver.received.length, sent + 1, 'no earlier notice is sent again');
});

test('a notice that a killed daemon could not deliver is delivered once by the next one', async (t) => {
  const statuses: number[] = [500, 503, ...Array(100).fill(500)];
  const receiver = await startReceiver(t, statuses);
  // The third try is 1.5 s after the second: the daemon is killed between the two. One killed during a try leaves the notice to the
  // next daemon 30 s later.
  const config = { notices: { ...notices(receiver.url), backoff: '500ms' } };
  const daemon = await startTestDaemon(t, { config });
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  await daemon.addAccount('alice', 'secret', { ExpiresAt: soon });
  await receiver.waitFor('account.expiring', 2);
  await eventually(async () => {
    const { items } = (await daemon.api('GET', '/api/v1/notices')).json as { items: { detail: string }[] };
    assert.match(items[0]?.detail ?? '', /503/, 'the result of the second try is stored');
  });
  daemon.signal('SIGKILL');
  await daemon.exited();
  statuses.length = 0;
  const refused = receiver.received.length;
  const restarted = await startTestDaemon(t, { config, dataDir: daemon.dataDir });
  await receiver.waitFor('account.expiring', refused + 1);
  await restarted.addAccount('bob', 'secret', { ExpiresAt: soon });
  await receiver.waitFor('account.expiring', refused + 2);
  const names = receiver.received.map(({ json }) => json.data['username']);
  assert.deepEqual(names, [...Array(refused + 1).fill('alice'), 'bob']);
  assert.equal(new Set(receiver.received.map(({ json }) => json.id)).size, 2, 'each try has the same id');
});

test('a failed run causes a notice', async (t) => {
  const receiver = await startReceiver(t);
  const daemon = await startTestDaemon(t, {
    config: {
      notices: notices(receiver.url),
      agents: { broken: { type: 'command', command: ['node', '-e', 'process.exit(3)'] } },
    },
  });
  const sent = await daemon.api('POST', '/api/v1/agents/broken/messages', { message: 'hello' });
  assert.equal(sent.status, 202, sent.text);
  const [failed] = await receiver.waitFor('run.failed');
  const { runId } = sent.json as { runId: string };
  assert.deepEqual([failed?.json.data['run'], failed?.json.data['agent']], [runId, 'broken']);
});

test('a notice fails after maxTries attempts; without a channel none is sent', async (t) => {
  const receiver = await startReceiver(t, [500, 500, 500, 500]);
  const config = { notices: { ...notices(receiver.url), maxTries: 2 } };
  const daemon = await startTestDaemon(t, { config });
  await daemon.addAccount('alice', 'secret', { ExpiresAt: new Date(Date.now() + 60_000).toISOString() });
  const line = await daemon.waitForLine(({ msg }) => msg === 'notice not delivered');
  assert.equal(line['type'], 'account.expiring');
  assert.equal(receiver.received.length, 2);
});
