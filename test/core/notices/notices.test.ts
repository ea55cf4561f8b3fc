// Notices of the daemon to a webhook: alerts and digests are signed, retried, and delivered once, also over a restart.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { Knex } from 'knex';
import { connectPg } from '../../../src/store/pg/connect.js';
import { connectSqlite } from '../../../src/store/sqlite/connect.js';
import { makeCertificate } from '../../helpers/certificate.js';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { databaseOf } from '../../helpers/database.js';
import { assertSigned, type Received, startReceiver } from '../../helpers/event-receiver.js';
import { eventually } from '../../helpers/eventually.js';
import { needs } from '../../helpers/programs.js';
import { connectThrough, loggedInClient } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

const SECRET = `whsec_${Buffer.from('a key of some bytes').toString('base64')}`;

const notices = (url: string) => ({
  url,
  secret: SECRET,
  lookEvery: '200ms',
  expiryDays: [3],
  loginFailures: 3,
});

let tokens = 0;
/** Makes a token, which causes an alert. Returns its name. */
async function makeToken(daemon: TestDaemon, name = `token-${++tokens}`): Promise<string> {
  const made = await daemon.api('POST', '/api/v1/tokens', { name, scopes: ['accounts:read'] });
  assert.equal(made.status, 201, made.text);
  return name;
}

/** Makes tokens until one is announced: what happened before a channel is switched on is not. */
async function firstAlert(daemon: TestDaemon, received: readonly Received[]): Promise<void> {
  await eventually(async () => {
    await makeToken(daemon);
    // Not at once another one: a channel sends a bounded number of notices a minute.
    await eventually(() => assert.ok(received.length > 0), 1_000);
  });
}

/** Changes the database of a daemon that has ended. */
async function changeDatabase(dataDir: string, change: (db: Knex) => Promise<void>): Promise<void> {
  const options = await databaseOf(dataDir);
  const isPg = options.client === 'pg';
  const db = isPg
    ? connectPg(options.connection, 1)
    : connectSqlite(options.client, `${dataDir}/pulsegate.db`, 30_000);
  await change(db);
  await db.destroy();
}

/** Lets days pass between the runs of a daemon, as the notices see it. */
const passDays = (dataDir: string, days: number): Promise<void> =>
  changeDatabase(dataDir, async (db) => {
    const ms = days * 86_400_000;
    await db('notice_channels').decrement('digested_at', ms);
    await db('notices').where({ channel: 'digest' }).decrement('at', ms);
  });

test('alerts go out at once and signed, reminders of expiry and quota in one digest', async (t) => {
  const receiver = await startReceiver(t, [500], ({ type }) => type === 'token.create');
  const robot = await startReceiver(t);
  const isDigest = ({ body }: Received) => body.includes('Since ');
  const config = { timeZone: 'Asia/Shanghai', notices: notices(receiver.url), events: { backoff: '10ms' } };
  const daemon = await startTestDaemon(t, { config });
  const settings = (await daemon.api('GET', '/api/v1/settings/notices')).json as { timeZone: string };
  assert.equal(settings.timeZone, 'Asia/Shanghai', 'until an operator sets another');
  const saved = (await daemon.api('GET', '/api/v1/settings/notices')).json as Record<string, object>;
  const { builtIn: _, ...sent } = saved;
  const wecom = { operator: true, baseUrl: robot.url, key: 'robot' };
  const channels = Object.fromEntries(
    ['email', 'telegram'].map((channel) => [
      channel,
      Object.fromEntries(Object.entries(saved[channel] ?? {}).filter(([name]) => !name.startsWith('has'))),
    ]),
  );
  const put = await daemon.api('PUT', '/api/v1/settings/notices', {
    ...sent,
    ...channels,
    wecom,
    language: 'en',
  });
  assert.equal(put.status, 200, put.text);
  await firstAlert(daemon, robot.received);
  await firstAlert(daemon, receiver.received);
  const [first] = await receiver.waitFor('token.create');
  const second = await eventually(() => {
    const found = receiver.received.find((each) => each !== first && each.json.id === first?.json.id);
    assert.ok(found, 'a retry has the same id');
    return found;
  });
  assert.equal(second.json.data['by'], 'admin');
  assertSigned(second, SECRET);

  const soon = new Date(Date.now() + 86_400_000).toISOString();
  const later = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const id = await daemon.addAccount('alice', 'secret', { ExpiresAt: soon });
  await daemon.addAccount('bob', 'secret', { ExpiresAt: later });
  const target = await startTarget(t, echo);
  await daemon.api('PATCH', `/api/v1/accounts/${id}`, {
    limits: { quotaBytes: 2_000, quotaPeriod: 'never' },
  });
  const account = { port: daemon.socks.port, username: 'alice', password: 'secret' };
  const client = await connectThrough(account, '127.0.0.1', target.port);
  client.send(Buffer.alloc(850));
  await client.read(850);
  client.destroy();
  for (let i = 0; i < 3; i++) await loggedInClient({ ...account, password: 'wrong' }).catch(() => {});
  const [failing] = await receiver.waitFor('logins.failing');
  assert.equal(failing?.json.data['client'], '127.0.0.1');
  // The traffic is counted, and the quota recorded, before a later alert.
  await eventually(async () => {
    const { usage } = (await daemon.api('GET', `/api/v1/accounts/${id}`)).json as {
      usage: { periodBytes: number };
    };
    assert.equal(usage.periodBytes, 1_700);
  });
  for (let i = 0; i < 2; i++) {
    const name = await makeToken(daemon);
    await eventually(() => assert.ok(receiver.received.some(({ json }) => json.data['name'] === name)));
  }
  daemon.signal('SIGTERM');
  await daemon.exited();
  const before = receiver.received.length;
  assert.equal(robot.received.filter(isDigest).length, 0, 'no reminder at once');

  await passDays(daemon.dataDir, 2);
  const restarted = await startTestDaemon(t, { config, dataDir: daemon.dataDir });
  const digest = await eventually(() => robot.received.find(isDigest) ?? assert.fail('no digest'));
  for (const line of [/^- alice {2}\d{4}-/m, /^- alice {2}85%/m])
    assert.match(digest.body.replaceAll('\\n', '\n'), line);
  const name = await makeToken(restarted);
  await eventually(() => assert.ok(receiver.received.some(({ json }) => json.data['name'] === name)));
  assert.equal(receiver.received.length, before + 1, 'no earlier event is sent again');
});

test('a notice that a killed daemon could not deliver is delivered once by the next one', async (t) => {
  const receiver = await startReceiver(t, [503], ({ data }) => data['name'] === 'lost');
  // The next try is an hour away: the daemon is killed between two tries, however slow the machine is.
  const config = { notices: notices(receiver.url), events: { backoff: '1h' } };
  const daemon = await startTestDaemon(t, { config });
  await firstAlert(daemon, receiver.received);
  await eventually(async () => {
    const { items } = (await daemon.api('GET', '/api/v1/event-deliveries?state=pending')).json as {
      items: [];
    };
    assert.equal(items.length, 0);
  });
  const last = await makeToken(daemon);
  await eventually(() => assert.equal(receiver.received.at(-1)?.json.data['name'], last));
  const lost = await makeToken(daemon, 'lost');
  await eventually(async () => {
    const { items } = (await daemon.api('GET', '/api/v1/event-deliveries')).json as {
      items: { detail: string; state: string }[];
    };
    assert.match(items[0]?.detail ?? '', /503/, 'the result of the first try is stored');
    assert.equal(
      items.filter(({ state }) => state === 'pending').length,
      1,
      'and that the one before has arrived',
    );
  });
  daemon.signal('SIGKILL');
  await daemon.exited();
  await changeDatabase(daemon.dataDir, async (db) => {
    assert.equal(await db('notices').whereNotNull('due_at').update({ due_at: Date.now() }), 1);
  });
  const restarted = await startTestDaemon(t, { config, dataDir: daemon.dataDir });
  const named = (name: string) => receiver.received.filter(({ json }) => json.data['name'] === name);
  await eventually(() => assert.equal(named(lost).length, 2));
  const next = await makeToken(restarted);
  await eventually(() => assert.equal(named(next).length, 1));
  assert.equal(named(lost).length, 2);
  assert.equal(new Set(named(lost).map(({ json }) => json.id)).size, 1, 'each try has the same id');
});

describe('a notice', needs('openssl'), async () => {
  const scope = suiteScope();
  /** Takes all but those of the token `refused`. */
  const receiver = await startReceiver(
    scope,
    Array(1_000).fill(500),
    ({ data }) => data['name'] === 'refused',
  );
  const { certFile: cert, keyFile: key } = makeCertificate(scope, { days: 13 });
  const daemon = await startTestDaemon(scope, {
    config: {
      notices: notices(receiver.url),
      events: { backoff: '10ms', maxTries: 2 },
      agents: { broken: { type: 'command', command: ['node', '-e', 'process.exit(3)'] } },
      socks: { listeners: [{ host: '127.0.0.1', port: 0, tls: { cert, key } }] },
    },
  });
  await firstAlert(daemon, receiver.received);

  it('is sent after a failed run', async () => {
    const sent = await daemon.api('POST', '/api/v1/agents/broken/messages', { message: 'hello' });
    assert.equal(sent.status, 202, sent.text);
    const [failed] = await receiver.waitFor('run.failed');
    const { runId } = sent.json as { runId: string };
    assert.deepEqual([failed?.json.data['run'], failed?.json.data['agent']], [runId, 'broken']);
  });

  it('is sent before a certificate expires', async () => {
    const [found] = await receiver.waitFor('certificate.expiring');
    assert.equal(found?.json.data['certificate'], 'socks.listeners[0].tls');
  });

  it('fails after maxTries attempts', async () => {
    await makeToken(daemon, 'refused');
    await daemon.waitForLine(({ msg, type }) => msg === 'notice not delivered' && type === 'token.create');
    const { items } = (await daemon.api('GET', '/api/v1/event-deliveries?state=failed')).json as {
      items: { id: string }[];
    };
    const [failed] = items.map(({ id }) => receiver.received.filter(({ json }) => json.id === id).length);
    assert.equal(failed, 2);
  });
});
