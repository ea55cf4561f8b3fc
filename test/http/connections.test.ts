// The connections of the admin port: their limits, which one is closed for a new one, and how slowly bytes may arrive.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createHttpServers } from '../../src/http/connections/http.js';
import { ADMIN, startTestAdmin, TEST_CONNECTIONS } from '../helpers/admin.js';
import { basic, parseExchange } from '../helpers/http.js';
import type { Scope } from '../helpers/suite.js';

const authorization = basic(ADMIN.username, ADMIN.password);
const LIST = '/ProxyAccount/GetProxyAccountList';
const ADD = '/ProxyAccount/AddProxyAccount';

interface Client {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<unknown>;
}

async function dial(t: Scope, port: number, source = '127.0.0.1'): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: source });
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  const closed = once(socket, 'close');
  await Promise.race([once(socket, 'connect'), closed]);
  return { socket, received: () => received, closed };
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Starts a server that answers `/` with `here`, and other requests never, unless `handle` is given. */
async function serve(
  t: Scope,
  limits: Partial<typeof TEST_CONNECTIONS>,
  handle?: Parameters<typeof createHttpServers>[0],
) {
  const lines: Record<string, unknown>[] = [];
  const servers = createHttpServers(
    handle ?? ((req, res) => (req.url === '/' ? res.end('here') : undefined)),
    { tls: null, handshakeTimeoutMs: 1_000, connections: { ...TEST_CONNECTIONS, ...limits } },
    {
      isListed: (address) => !address.startsWith('127.0.9.'),
      isTrustedProxy: (address) => address === '127.0.0.7',
      isOpenPath: () => false,
      log: { warn: (fields, msg) => lines.push({ msg, ...fields }) },
    },
  );
  const server = servers.create().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => servers.close());
  const { port } = server.address() as { port: number };
  const request = async (client: Client, text = GET) => {
    client.socket.write(text);
    await once(client.socket, 'data');
    return client.received();
  };
  return { port, lines, request };
}

test('at the limit of a source, its longest idle connection is closed for a new one', async (t) => {
  const { port, lines, request } = await serve(t, { maxPerSource: 3 });
  const clients = [];
  for (let i = 0; i < 3; i++) clients.push(await dial(t, port));
  const other = await dial(t, port, '127.0.0.2');
  const newcomer = await dial(t, port);
  assert.match(await request(newcomer), /here$/);
  await clients[0]?.closed;
  for (const each of [...clients.slice(1), other]) assert.match(await request(each), /here$/);
  assert.deepEqual(lines, [
    {
      msg: 'too many admin connections',
      setting: 'admin.connections.maxPerSource',
      source: '127.0.0.1',
      closed: 1,
    },
  ]);
});

test('at the limit of a source, the new connection is closed when all others have requests in progress; a trusted proxy has no such limit', async (t) => {
  const { port, request } = await serve(t, { max: 5, maxPerSource: 2 });
  const busy = [await dial(t, port), await dial(t, port)];
  for (const { socket } of busy) socket.write('GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n');
  // This answer shows that the server has read the earlier requests, too.
  assert.match(await request(await dial(t, port, '127.0.0.2')), /here$/);
  await (await dial(t, port)).closed;
  const proxied = [];
  for (let i = 0; i < 3; i++) proxied.push(await dial(t, port, '127.0.0.7'));
  for (const each of proxied) assert.match(await request(each), /here$/);
  for (const { socket } of busy) assert.equal(socket.destroyed, false);
});

test('sources outside the whitelist share one limit and take no connection from others', async (t) => {
  const { port, lines, request } = await serve(t, { max: 4, maxOutside: 2, outsideTimeoutMs: 60_000 });
  const outside = [];
  for (let i = 0; i < 3; i++) outside.push(await dial(t, port, `127.0.9.${i + 1}`));
  await outside[0]?.closed;
  assert.equal(lines[0]?.['setting'], 'admin.connections.maxOutside');
  const inside = [];
  for (let i = 0; i < 3; i++) inside.push(await dial(t, port, `127.0.0.${i + 1}`));
  for (const each of inside) assert.match(await request(each), /here$/);
  await outside[1]?.closed;
  await dial(t, port, '127.0.9.4');
  for (const each of inside)
    assert.match(
      await request(each),
      /here$/,
      'the connection that was closed is one from outside the whitelist',
    );
});

test('a connection from outside the whitelist gets 403 and is closed, also when it sends nothing', async (t) => {
  const admin = await startTestAdmin(t, { connections: { ...TEST_CONNECTIONS, outsideTimeoutMs: 2_000 } });
  await admin.whitelist.save('127.0.0.1');
  const port = Number(new URL(admin.url).port);
  const requesting = await dial(t, port, '127.0.0.9');
  requesting.socket.write(GET);
  await requesting.closed;
  assert.deepEqual(parseExchange(requesting.received()).json, 'IP不在白名单中');
  const silent = await dial(t, port, '127.0.0.9');
  await silent.closed;
  assert.equal(silent.received(), '');
});

const upload = (length: number) =>
  `POST ${ADD} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nConnection: close\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

test('an upload above the minimum rate may take any time; one that stalls or is too slow gets 408', async (t) => {
  const admin = await startTestAdmin(t, {
    connections: { ...TEST_CONNECTIONS, idleTimeoutMs: 2_000, minRateBytes: 100 },
  });
  const port = Number(new URL(admin.url).port);
  const body = Buffer.from(JSON.stringify({ Username: 'slow', Password: 'x', Remarks: 'x'.repeat(3_000) }));
  /** Sends the body in pieces 40 ms apart until it is complete or the connection is closed. */
  const send = async (bytesAtOnce: number, atMost = body.length) => {
    const client = await dial(t, port);
    client.socket.write(upload(body.length));
    for (let at = 0; at < atMost && !client.socket.destroyed; at += bytesAtOnce) {
      client.socket.write(body.subarray(at, Math.min(at + bytesAtOnce, atMost)));
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await client.closed;
    return parseExchange(client.received());
  };
  const [enough, trickle, stalled] = await Promise.all([send(40), send(1), send(100, 200)]);
  assert.equal(enough.json, '添加账号成功', 'it takes some 3 s, longer than the idle time limit');
  assert.deepEqual([trickle.status, stalled.status], [408, 408]);
  assert.ok(admin.accounts.getByUsername('slow'));
});

test('a client that does not read its response is disconnected, and one that waits for a slow handler is not', async (t) => {
  const events = new EventEmitter();
  const { port, request } = await serve(t, { idleTimeoutMs: 1_500 }, (req, res) => {
    if (req.url === '/') {
      // This handler takes longer than the idle time limit of the other connection.
      events.once('disconnected', () => res.end('here'));
      return void events.emit('slow request');
    }
    res.once('close', () => events.emit('disconnected'));
    res.end(Buffer.alloc(32 * 1024 * 1024));
  });
  const slowRequest = once(events, 'slow request');
  const slow = request(await dial(t, port));
  await slowRequest;
  const stalled = await dial(t, port);
  stalled.socket.pause();
  stalled.socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.match(await slow, /here$/);
});

test('a connection can be reused after an upload', async (t) => {
  const admin = await startTestAdmin(t);
  const client = await dial(t, Number(new URL(admin.url).port));
  client.socket.write(upload(2).replace('Connection: close\r\n', ''));
  client.socket.write('{}');
  client.socket.write(
    `GET ${LIST} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
  );
  await client.closed;
  assert.deepEqual(client.received().match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 200']);
});
