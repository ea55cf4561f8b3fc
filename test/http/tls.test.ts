// The HTTPS server: the handshake and its time limit, clients without TLS, certificate changes, close.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createHttpServers, type HttpServersOptions } from '../../src/http/connections/http.js';
import { startTestAdmin, TEST_CONNECTIONS } from '../helpers/admin.js';
import { makeCertificate, servedAt } from '../helpers/certificate.js';
import { exchange, parseExchange, send } from '../helpers/http.js';
import { needs } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

const HANDSHAKE = 0x16;

describe('the admin API over TLS', needs('openssl'), () => {
  const scope = suiteScope();
  const [own, other] = [makeCertificate(scope), makeCertificate(scope)];

  async function listen(
    t: { after(close: () => Promise<void>): void },
    options: Partial<HttpServersOptions> = {},
    handle: Parameters<typeof createHttpServers>[0] = (_req, res) => res.end('here'),
  ) {
    const servers = createHttpServers(
      handle,
      { tls: own, handshakeTimeoutMs: 10_000, connections: TEST_CONNECTIONS, ...options },
      {
        isListed: () => true,
        isTrustedProxy: () => false,
        isOpenPath: () => false,
        log: { warn: () => undefined },
      },
    );
    const server = servers.create().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => servers.close());
    const { port } = server.address() as AddressInfo;
    return { servers, server, port, url: `https://127.0.0.1:${port}` };
  }

  async function dial(t: { after(close: () => void): void }, port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.resume();
    await once(socket, 'connect');
    return socket;
  }

  it('answers over TLS 1.2 and 1.3, and not over 1.1', async (t) => {
    const { port, url } = await listen(t);
    assert.equal((await send(url, { ca: own.cert })).text, 'here');
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket: TLSSocket = connectTls({ port, ca: own.cert, minVersion: version, maxVersion: version });
      t.after(() => socket.destroy());
      await once(socket, 'secureConnect');
      assert.equal(socket.getProtocol(), version);
    }
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await assert.rejects(once(connectTls({ port, ca: own.cert, ...old }), 'secureConnect'), /protocol/);
  });

  it('accepts a handshake that arrives byte by byte', async (t) => {
    const { port } = await listen(t);
    const slowRelay = createServer((client) => {
      const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
      upstream.on('error', () => client.destroy()).pipe(client);
      client.on('close', () => upstream.destroy());
      client.on('data', (chunk: Buffer) => {
        for (const byte of chunk) upstream.write(Buffer.of(byte));
      });
    }).listen(0, '127.0.0.1');
    t.after(() => slowRelay.close());
    await once(slowRelay, 'listening');
    const at = `https://127.0.0.1:${(slowRelay.address() as AddressInfo).port}`;
    assert.equal((await send(at, { ca: own.cert })).text, 'here');
  });

  it('answers plain HTTP, and other bytes that are not a handshake, with a hint to use HTTPS', async (t) => {
    const { url, port } = await listen(t);
    const answer = await send(`http://127.0.0.1:${port}/`, { headers: { 'x-long': 'x'.repeat(4000) } });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /^[^\n]*https:\/\/[^\n]*\n$/);
    for (const bytes of ['\r\n', Buffer.from([5, 1, 0]), 'x'.repeat(60_000)]) {
      assert.equal(parseExchange(await exchange(url, bytes)).status, 400);
    }
  });

  it('closes an invalid handshake', async (t) => {
    const { port, url } = await listen(t);
    const socket = await dial(t, port);
    socket.write(Buffer.from([HANDSHAKE, 9, 9, 9, 9, 9, 9, 9]));
    await once(socket, 'close');
    assert.equal((await send(url, { ca: own.cert })).text, 'here');
  });

  it('limits the time to the first byte, and then to the end of the handshake', async (t) => {
    const handshakeTimeoutMs = 300;
    const { port } = await listen(t, { handshakeTimeoutMs });
    const startedAt = performance.now();
    const [silent, half] = await Promise.all([dial(t, port), dial(t, port)]);
    half.write(Buffer.from([HANDSHAKE, 3, 1, 2]));
    await Promise.all([once(silent, 'close'), once(half, 'close')]);
    const took = performance.now() - startedAt;
    assert.ok(took >= handshakeTimeoutMs - 50, `${took} ms`);
  });

  it('does not limit a connection after its handshake', async (t) => {
    const { server, url } = await listen(t);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    assert.equal((await send(url, { ca: own.cert, agent })).text, 'here');
    const [raw] = await accepted;
    assert.deepEqual([raw.destroyed, raw.timeout], [false, 0]);
  });

  it('has the limits of plain HTTP', async (t) => {
    const [plain, tls] = [await listen(t, { tls: null }), await listen(t)];
    for (const limit of ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'timeout'] as const) {
      assert.equal(tls.server[limit], plain.server[limit], limit);
    }
    const long = await send(tls.url, { ca: own.cert, headers: { 'x-long': 'x'.repeat(20_000) } });
    assert.equal(long.status, 431);
    assert.equal(long.json, '请求格式错误');
  });

  it('uses a new certificate for new connections, and keeps the open ones', async (t) => {
    const { servers, url } = await listen(t);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    assert.equal((await send(url, { ca: own.cert, agent })).text, 'here');
    assert.equal(await servedAt(url), own.fingerprint);
    servers.setTls(other);
    assert.equal(await servedAt(url), other.fingerprint);
    assert.equal((await send(url, { ca: own.cert, agent })).text, 'here');
    await assert.rejects(send(url, { ca: own.cert }), /certificate/);
    assert.equal((await send(url, { ca: other.cert })).text, 'here');
  });

  it('closes connections without a handshake at once when it stops, and those with a request in progress after the response', async (t) => {
    const requests = new EventTarget();
    let finish: () => void = () => undefined;
    const { servers, port, url } = await listen(t, {}, (_req, res) => {
      finish = () => res.end('late');
      requests.dispatchEvent(new Event('request'));
    });
    const [silent, half] = await Promise.all([dial(t, port), dial(t, port)]);
    half.write(Buffer.from([HANDSHAKE, 3, 1, 2]));
    const idle = connectTls({ port, ca: own.cert });
    t.after(() => idle.destroy());
    idle.on('error', () => undefined);
    await once(idle, 'secureConnect');
    const requested = once(requests, 'request');
    const answer = send(url, { ca: own.cert });
    await requested;
    const socketsClosed = Promise.all([silent, half, idle].map((socket) => once(socket, 'close')));
    const closed = servers.close();
    await socketsClosed;
    finish();
    assert.equal((await answer).text, 'late');
    await closed;
    await assert.rejects(send(url, { ca: own.cert }), { code: 'ECONNREFUSED' });
  });

  it("knows the endpoints of its connections, and refuses the daemon's own outbound sockets", async (t) => {
    const seen: unknown[] = [];
    const admin = await startTestAdmin(t, {
      tls: own,
      isOwnOutbound: (peer, local) => seen.push({ peer, local }) > 0,
    });
    const url = admin.url.replace('http:', 'https:');
    const agent = new Agent({ keepAlive: true });
    t.after(async () => agent.destroy());
    const answer = await send(`${url}/`, { ca: own.cert, agent });
    assert.equal(answer.status, 403);
    const [socket] = Object.values(agent.freeSockets).flat();
    const address = '127.0.0.1';
    assert.deepEqual(seen, [
      { peer: { address, port: socket?.localPort }, local: { address, port: Number(new URL(url).port) } },
    ]);
  });
});
