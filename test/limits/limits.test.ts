// The limits of an account: sessions are refused, slowed and ended, and the API shows limits and usage.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { IPV6, needs } from '../helpers/programs.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login as loginBytes,
  RawClient,
  readReply,
  request,
} from '../helpers/socks-client.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

interface Shown {
  readonly limits: Readonly<Record<string, unknown>>;
  readonly usage: Readonly<Record<string, number | string | null>>;
}

const NOT_ALLOWED = 2; // RFC 1928 §6: connection not allowed by ruleset

describe('limits of an account', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;

  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: {
        egress: {
          private: 'allow',
          classes: { closed: { private: 'deny' }, withoutIpv6: { private: 'allow', deny: ['::1'] } },
        },
      },
    });
    target = await startTarget(scope, echo);
  });

  async function account(username: string, limits: Record<string, unknown> = {}) {
    const id = await daemon.addAccount(username, 'secret');
    if (Object.keys(limits).length > 0) await setLimits(id, limits);
    return { id, login: { port: daemon.socks.port, username, password: 'secret' } };
  }

  async function setLimits(id: string, limits: Record<string, unknown>): Promise<Shown> {
    const answer = await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, limits);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Shown;
  }

  async function limitsOf(id: string): Promise<Shown> {
    return (await daemon.api('GET', `/api/v1/accounts/${id}/limits`)).json as Shown;
  }

  async function assertRefused(login: Parameters<typeof loggedInClient>[0], reason: string): Promise<void> {
    const client = await loggedInClient(login);
    client.send(request('127.0.0.1', target.port));
    assert.equal((await readReply(client)).code, NOT_ALLOWED);
    await client.closed();
    await daemon.waitForLine(
      (line) =>
        line.msg === 'session refused' && line['account'] === login.username && line['reason'] === reason,
    );
  }

  async function assertEcho(client: RawClient, bytes = 5): Promise<void> {
    const sent = randomBytes(bytes);
    client.send(sent);
    assert.ok((await client.read(bytes)).equals(sent));
  }

  const endOf = (username: string) =>
    daemon.waitForLine((line) => line.msg === 'session ended' && line['account'] === username);

  it('are not set at first, and are shown with the usage', async () => {
    const startedAt = new Date();
    const { id, login } = await account('plain');
    const client = await connectThrough(login, '127.0.0.1', target.port);
    await assertEcho(client, 1000);
    const { limits, usage } = await limitsOf(id);
    assert.deepEqual(limits, {
      maxSessions: null,
      maxClientAddresses: null,
      bytesPerSecondUp: null,
      bytesPerSecondDown: null,
      quotaBytes: null,
      quotaPeriod: 'month',
      egressClass: null,
      connectionsPerSecond: null,
      connectionsPerMinute: null,
      destinationsPerMinute: null,
      udpDestinationsPerSecond: null,
      failedConnectionsPerMinute: null,
      lookupsPerMinute: null,
      maxConnections: null,
    });
    assert.deepEqual(
      [
        usage['sessions'],
        usage['clientAddresses'],
        usage['periodBytes'],
        usage['totalBytesUp'],
        usage['totalBytesDown'],
      ],
      [1, 1, 2000, 1000, 1000],
    );
    // The month may change meanwhile.
    const monthOf = (date: Date) =>
      new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth())).toISOString();
    assert.ok([monthOf(startedAt), monthOf(new Date())].includes(String(usage['periodStartedAt'])));
    client.destroy();
  });

  it('allow exactly maxSessions sessions, and another after one has ended', async () => {
    const { id, login } = await account('two-sessions', { maxSessions: 2 });
    const first = await connectThrough(login, '127.0.0.1', target.port);
    const second = await connectThrough(login, '127.0.0.1', target.port);
    await assertRefused(login, 'too-many-sessions');
    first.destroy();
    await eventually(async () => assert.equal((await limitsOf(id)).usage['sessions'], 1));
    const third = await connectThrough(login, '127.0.0.1', target.port);
    await assertEcho(third);
    second.destroy();
    third.destroy();
  });

  it('allow exactly maxSessions of concurrent requests', async () => {
    const { login } = await account('burst', { maxSessions: 5 });
    const clients = await Promise.all(Array.from({ length: 40 }, () => loggedInClient(login)));
    for (const client of clients) client.send(request('127.0.0.1', target.port));
    const codes = await Promise.all(clients.map(async (client) => (await readReply(client)).code));
    assert.equal(codes.filter((code) => code === 0).length, 5);
    assert.equal(codes.filter((code) => code === NOT_ALLOWED).length, 35);
    for (const client of clients) client.destroy();
  });

  it('allow exactly maxClientAddresses client addresses', async () => {
    const { login } = await account('one-address', { maxClientAddresses: 1 });
    const from4 = await connectThrough(login, '127.0.0.1', target.port);
    const again = await connectThrough(login, '127.0.0.1', target.port);
    // Another loopback address is another client.
    const socket = connect({
      port: daemon.socks.port,
      host: '127.0.0.1',
      localAddress: '127.0.0.9',
      allowHalfOpen: true,
    });
    const client = new RawClient(socket);
    client.send(
      Buffer.concat([
        greeting(2),
        loginBytes(login.username, login.password),
        request('127.0.0.1', target.port),
      ]),
    );
    assert.equal((await client.readToEnd()).toString('hex'), '0502010005020001000000000000');
    from4.destroy();
    again.destroy();
  });

  it('end the newest sessions when they are lowered', async () => {
    const { id, login } = await account('lowered');
    const clients = [];
    for (let i = 0; i < 3; i += 1) clients.push(await connectThrough(login, '127.0.0.1', target.port));
    await setLimits(id, { maxSessions: 1 });
    await Promise.all(clients.slice(1).map((client) => client.closed()));
    assert.equal((await endOf('lowered'))['end'], 'limits-changed');
    const [first] = clients;
    if (first) await assertEcho(first);
    first?.destroy();
  });

  for (const [direction, limits] of [
    ['up', { bytesPerSecondUp: 200_000 }],
    ['down', { bytesPerSecondDown: 200_000 }],
  ] as const) {
    it(`share a rate ${direction} equally between two sessions, without gaps`, async () => {
      const { login } = await account(`rate-${direction}`, limits);
      // Before the daemon counts the first byte: whatever delays this process, the time until a byte arrives is never too short.
      const startedAt = performance.now();
      const clients = await Promise.all([0, 1].map(() => connectThrough(login, '127.0.0.1', target.port)));
      const received = [0, 0];
      let pieces = 0;
      clients.forEach((client, i) => {
        client.socket.removeAllListeners('data');
        client.socket.on('data', (chunk: Buffer) => {
          received[i] = (received[i] ?? 0) + chunk.length;
          pieces += 1;
        });
        // Different sizes of writes, because fairness is counted in bytes.
        const chunk = Buffer.alloc(i === 0 ? 100_000 : 10_000);
        const push = (): void => {
          while (!client.socket.destroyed && client.socket.write(chunk));
          client.socket.once('drain', push);
        };
        push();
      });
      const total = () => received.reduce((sum, each) => sum + each, 0);
      const untilReceived = (bytes: number) => eventually(() => total() >= bytes);
      // The burst, and bytes that were sent before both flows shared the rate.
      await untilReceived(100_000);
      const [from, piecesBefore] = [[...received], pieces];
      await untilReceived(700_000);
      const seconds = (performance.now() - startedAt) / 1000;
      for (const client of clients) client.destroy();
      // Never more than the rate and the burst of a tenth of a second. It may be less on a busy machine.
      assert.ok(total() <= 200_000 * (seconds + 0.1) * 1.02, `${total()} bytes in ${seconds} s`);
      // Shared by writes instead of bytes, one would have ten times as much as the other.
      const shares = received.map((bytes, i) => bytes - (from[i] ?? 0));
      for (const share of shares) assert.ok(share > 600_000 / 4, `${shares}`);
      assert.ok(pieces - piecesBefore >= 10, `${pieces - piecesBefore} pieces`);
    });
  }

  it('change no byte and no order under a rate, and the end of the stream is relayed', async () => {
    const { login } = await account('whole', { bytesPerSecondUp: 1_500_000, bytesPerSecondDown: 1_000_000 });
    const client = await connectThrough(login, '127.0.0.1', target.port);
    const sent = randomBytes(1_200_000);
    client.send(sent);
    client.socket.end();
    assert.ok((await client.readToEnd()).equals(sent));
    assert.equal(await client.closed(), 'closed');
  });

  it('slow a live session when a rate is set, and free it when the rate is removed', async () => {
    const { id, login } = await account('slowed');
    const client = await connectThrough(login, '127.0.0.1', target.port);
    await assertEcho(client);
    await setLimits(id, { bytesPerSecondDown: 20_000 });
    const startedAt = performance.now();
    await assertEcho(client, 40_000);
    assert.ok(performance.now() - startedAt > 1_000, 'the session was not slowed');
    await setLimits(id, { bytesPerSecondDown: null });
    // At the old rate this would take 200 s, longer than the client waits.
    await assertEcho(client, 2_000_000);
    client.destroy();
  });

  it('end sessions when the quota is used up, and refuse new ones until a reset', async () => {
    const { id, login } = await account('quota', { quotaBytes: 100_000, quotaPeriod: 'never' });
    const client = await connectThrough(login, '127.0.0.1', target.port);
    client.send(randomBytes(60_000));
    // The other 60,000 are the upload.
    assert.equal((await client.readToEnd()).length, 40_000);
    client.destroy();
    assert.equal((await endOf('quota'))['end'], 'over-quota');
    await assertRefused(login, 'over-quota');
    const { usage } = await limitsOf(id);
    assert.deepEqual(
      [usage['periodBytes'], usage['periodStartedAt'], usage['periodEndsAt']],
      [100_000, null, null],
    );

    const reset = await daemon.api('POST', `/api/v1/accounts/${id}/usage/reset`);
    assert.equal(reset.status, 200, reset.text);
    const after = (reset.json as Shown).usage;
    assert.deepEqual(
      [after['periodBytes'], after['totalBytesUp'], after['totalBytesDown']],
      [0, 60_000, 40_000],
    );
    const again = await connectThrough(login, '127.0.0.1', target.port);
    await assertEcho(again);
    again.destroy();
  });

  it('end sessions that a new egress class does not permit, and only those', needs(IPV6), async (t) => {
    const target6 = await startTarget(t, echo, '::1');
    const { id, login } = await account('classed');
    const four = await connectThrough(login, '127.0.0.1', target.port);
    const six = await connectThrough(login, '::1', target6.port);
    await setLimits(id, { egressClass: 'withoutIpv6' });
    await six.closed();
    await assertEcho(four);
    const client = await loggedInClient(login);
    client.send(request('::1', target6.port));
    assert.equal((await readReply(client)).code, NOT_ALLOWED);
    await setLimits(id, { egressClass: 'closed' });
    await four.closed();
    const unknown = await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, { egressClass: 'none-such' });
    assert.equal(unknown.status, 400);
    await setLimits(id, { egressClass: null });
    (await connectThrough(login, '127.0.0.1', target.port)).destroy();
  });

  it('are refused when they are invalid, and keep their old values', async () => {
    const { id } = await account('checked', { maxSessions: 3 });
    for (const body of [
      { maxSessions: 0 },
      { quotaBytes: -1 },
      { quotaPeriod: 'year' },
      { bytesPerSecondUp: 1.5 },
      { maxSessions: '3' },
    ]) {
      const answer = await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, body);
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
    assert.equal((await limitsOf(id)).limits['maxSessions'], 3);
    const unknownId = '00000000-0000-4000-8000-000000000000';
    assert.equal((await daemon.api('GET', `/api/v1/accounts/${unknownId}/limits`)).status, 404);
    assert.equal((await daemon.api('PATCH', `/api/v1/accounts/${unknownId}/limits`, {})).status, 404);
    assert.equal((await daemon.api('POST', `/api/v1/accounts/${unknownId}/usage/reset`)).status, 404);
  });

  it('are not overwritten by a request with an old ETag', async () => {
    const { id } = await account('etag');
    const path = `/api/v1/accounts/${id}/limits`;
    const etag = (await daemon.api('GET', path)).headers.get('etag') ?? '';
    assert.notEqual(etag, '');
    assert.equal((await daemon.api('PATCH', path, { maxSessions: 4 }, { 'if-match': etag })).status, 200);
    assert.equal((await daemon.api('PATCH', path, { maxSessions: 5 }, { 'if-match': etag })).status, 412);
    assert.equal((await limitsOf(id)).limits['maxSessions'], 4);
  });
});

describe('the usage of an account', () => {
  it('is kept over restarts, and a kill loses no stored usage', async (t) => {
    const first = await startTestDaemon(t);
    const id = await first.addAccount('player', 'secret');
    const path = `/api/v1/accounts/${id}/limits`;
    await first.api('PATCH', path, { quotaBytes: 1_000_000, quotaPeriod: 'never', maxSessions: 7 });
    const target = await startTarget(t, echo);
    const login = { port: first.socks.port, username: 'player', password: 'secret' };
    const client = await connectThrough(login, '127.0.0.1', target.port);
    client.send(randomBytes(300_000));
    await client.read(300_000);
    const db = connectSqlite(sqliteClient, join(first.dataDir, 'pulsegate.db'), 5_000);
    t.after(() => db.destroy());
    await eventually(async () =>
      assert.deepEqual(await db('traffic_days').sum({ up: 'bytes_up', down: 'bytes_down' }), [
        { up: 300_000, down: 300_000 },
      ]),
    );
    // The session is still open when the daemon is killed.
    first.signal('SIGKILL');
    await first.exited();

    const second = await startTestDaemon(t, { dataDir: first.dataDir });
    const { limits, usage } = (await second.api('GET', path)).json as Shown;
    assert.deepEqual(
      [limits['maxSessions'], limits['quotaBytes'], limits['quotaPeriod']],
      [7, 1_000_000, 'never'],
    );
    assert.deepEqual(
      [usage['periodBytes'], usage['totalBytesUp'], usage['totalBytesDown']],
      [600_000, 300_000, 300_000],
    );
    const again = { ...login, port: second.socks.port };
    const more = await connectThrough(again, '127.0.0.1', target.port);
    more.send(randomBytes(250_000));
    await more.closed();
    const refused = await loggedInClient(again);
    refused.send(request('127.0.0.1', target.port));
    assert.equal((await readReply(refused)).code, NOT_ALLOWED);
    await second.api('POST', `/api/v1/accounts/${id}/usage/reset`);
    second.signal('SIGTERM');
    await second.exited();

    const third = await startTestDaemon(t, { dataDir: first.dataDir });
    const after = ((await third.api('GET', path)).json as Shown).usage;
    assert.equal(after['periodBytes'], 0);
    assert.ok(Number(after['totalBytesUp']) + Number(after['totalBytesDown']) >= 1_000_000);
  });
});
