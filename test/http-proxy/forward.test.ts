// Requests in absolute form through the running daemon: keep-alive over several destinations, bodies, limits, hostile peers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { openDescriptors } from '../helpers/descriptors.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { readHead } from '../helpers/http-proxy-client.js';
import { RawClient } from '../helpers/socks-client.js';
import { type Scope, suiteScope } from '../helpers/suite.js';

const LOGIN = `Proxy-Authorization: ${basic('player', 'secret')}\r\n`;
const UPLOAD = 3_000_000;
/** More than the buffers of both sockets hold. */
const BULK = 14_000_000;

/** Answers with a description of the request; `/bulk` with many bytes, `/hang` never. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/hang') return;
  if (request.url === '/bulk') return void response.end(Buffer.alloc(BULK, 'b'));
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const seen = {
      method: request.method,
      url: request.url,
      headers: request.rawHeaders,
      bytes: body.length,
    };
    response.end(JSON.stringify(seen));
  });
}

/** Starts a server that sends these bytes after the first data of a connection, and then closes it unless `ends` is false. */
async function startRaw(t: Scope, answer: string, ends = true): Promise<number> {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket.on('error', () => {}));
    socket.once('data', () => {
      socket.write(Buffer.from(answer, 'latin1'));
      if (ends) socket.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe('a request in absolute form', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let port: number;
  const webs: number[] = [];

  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: {
        socks: { workers: 2, handshakeTimeout: '8s', http: { maxHeader: '2KiB' } },
        egress: { deny: ['198.51.100.0/24'] },
      },
    });
    port = daemon.socks.port;
    await daemon.addAccount('player', 'secret');
    for (let i = 0; i < 2; i += 1) {
      const server = createServer(serve).listen(0, '127.0.0.1');
      await once(server, 'listening');
      scope.after(() => server.closeAllConnections());
      scope.after(() => server.close());
      webs.push((server.address() as AddressInfo).port);
    }
  });

  const url = (path = '/', web = 0): string => `http://127.0.0.1:${webs[web]}${path}`;
  const get = (target: string, fields = ''): string =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\n${LOGIN}${fields}\r\n`;

  /** A response with its body, whose framing is a length or the end of the connection. */
  async function readResponse(client: RawClient): Promise<{ status: number; body: string; isKept: boolean }> {
    const { status, fields } = await readHead(client);
    const length = fields['content-length'];
    const body = length === undefined ? await client.readToEnd() : await client.read(Number(length));
    return { status, body: body.toString('latin1'), isKept: fields['connection'] !== 'close' };
  }

  it('can be followed on the same connection by one to another destination or by another account', async () => {
    await daemon.addAccount('other', 'of other');
    const client = await RawClient.connect(port);
    for (const [web, name, password] of [
      [0, 'player', 'secret'],
      [1, 'player', 'secret'],
      [0, 'other', 'of other'],
      [1, 'player', 'secret'],
    ] as const) {
      const field = `Proxy-Authorization: ${basic(name, password)}\r\n`;
      client.send(`POST ${url(`/${web}`, web)} HTTP/1.1\r\nContent-Length: 3\r\n${field}\r\nabc`);
      const { status, body, isKept } = await readResponse(client);
      assert.equal(status, 200);
      assert.equal(isKept, true);
      assert.deepEqual(JSON.parse(body), {
        method: 'POST',
        url: `/${web}`,
        headers: ['Host', `127.0.0.1:${webs[web]}`, 'Content-Length', '3', 'Connection', 'close'],
        bytes: 3,
      });
      await daemon.waitForLine(
        (line) =>
          line.msg === 'session ended' &&
          line['account'] === name &&
          line['destination'] === `127.0.0.1:${webs[web]}`,
      );
    }
    client.destroy();
  });

  it('can be pipelined', async () => {
    const client = await RawClient.connect(port);
    client.send(get(url('/a')) + get(url('/b', 1)) + get(url('/c'), 'Connection: close\r\n'));
    for (const path of ['/a', '/b', '/c']) {
      const { body, isKept } = await readResponse(client);
      assert.equal((JSON.parse(body) as { url: string }).url, path);
      assert.equal(isKept, path !== '/c');
    }
    assert.equal(await client.closed(), 'closed');
  });

  it('is answered also when the server responds without reading the body, and so resets its connection', async (t) => {
    const web = createServer((_, response) => response.end('no')).listen(0, '127.0.0.1');
    await once(web, 'listening');
    t.after(() => web.close());
    const address = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    const statuses = new Set<number>();
    for (let i = 0; i < 100; i += 1) {
      const client = await RawClient.connect(port);
      client.send(`POST http://${address}/ HTTP/1.1\r\nHost: x\r\n${LOGIN}Content-Length: 2\r\n\r\nhi`);
      statuses.add((await readResponse(client)).status);
      client.destroy();
    }
    assert.deepEqual([...statuses], [200]);
  });

  // Node closes a socket when a write fails, with the bytes that were not read yet.
  const skip = process.env['TEST_ENGINE'] === 'node';
  it('through a CONNECT tunnel: the response of a server that refuses an upload halfway arrives', {
    skip,
  }, async (t) => {
    const web = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('readable', () => socket.write('HTTP/1.1 413 Too Large\r\n\r\n', () => socket.destroy()));
    }).listen(0, '127.0.0.1');
    await once(web, 'listening');
    t.after(() => web.close());
    const address = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    const statuses = new Set<number>();
    for (let i = 0; i < 50; i += 1) {
      const client = await RawClient.connect(port);
      client.send(`CONNECT ${address} HTTP/1.1\r\nHost: ${address}\r\n${LOGIN}\r\n`);
      await readHead(client);
      for (let chunk = 0; chunk < 4; chunk += 1) client.send(Buffer.alloc(75_000, 'x'));
      statuses.add((await readHead(client)).status);
      client.destroy();
    }
    assert.deepEqual([...statuses], [413]);
  });

  it('is authorized independently of earlier ones on the connection', async () => {
    for (const [second, status] of [
      [get('http://198.51.100.1/'), 403],
      [get(`http://127.0.0.1:${port}/`), 403],
      [get(`http://127.0.0.1:${new URL(daemon.adminUrl).port}/`), 403],
      [get('http://127.0.0.1:1/'), 502],
      [`GET ${url()} HTTP/1.1\r\n\r\n`, 407],
      [`GET ${url()} HTTP/1.1\r\nProxy-Authorization: ${basic('player', 'wrong')}\r\n\r\n`, 407],
      [get(url(), `X: ${'y'.repeat(2048)}\r\n`), 431],
      [get('https://127.0.0.1/'), 501],
      [get(url(), 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'), 400],
    ] as const) {
      const client = await RawClient.connect(port);
      client.send(get(url('/first')) + second);
      assert.equal((await readResponse(client)).status, 200);
      const refused = await readResponse(client);
      assert.deepEqual([refused.status, refused.isKept], [status, false], second);
      assert.equal(await client.closed(), 'closed');
    }
  });

  it('is refused when the account was disabled after the previous one', async () => {
    const id = await daemon.addAccount('leaving', 'secret');
    const login = `Proxy-Authorization: ${basic('leaving', 'secret')}\r\n`;
    const client = await RawClient.connect(port);
    client.send(`GET ${url()} HTTP/1.1\r\n${login}\r\n`);
    assert.equal((await readResponse(client)).status, 200);
    await daemon.api('POST', '/ProxyAccount/UpdateProxyAccount', { AID: id, IsEnabled: false });
    client.send(`GET ${url()} HTTP/1.1\r\n${login}\r\n`);
    assert.equal((await readResponse(client)).status, 407);
    client.destroy();
  });

  it('can have large bodies both ways, by length and in chunks, also with a slow reader', async () => {
    const client = await RawClient.connect(port);
    client.send(`PUT ${url()} HTTP/1.1\r\nContent-Length: ${UPLOAD}\r\n${LOGIN}\r\n`);
    client.send(Buffer.alloc(UPLOAD, 'x'));
    assert.equal((JSON.parse((await readResponse(client)).body) as { bytes: number }).bytes, UPLOAD);
    client.send(`PUT ${url()} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${LOGIN}\r\n`);
    for (let i = 0; i < 100; i += 1) client.send(`1000\r\n${'y'.repeat(4096)}\r\n`);
    client.send('0\r\n\r\n');
    assert.equal((JSON.parse((await readResponse(client)).body) as { bytes: number }).bytes, 409_600);
    client.socket.pause();
    client.send(get(url('/bulk')));
    // All buffers are full long before the end of the body. The transfer continues when the client reads.
    await eventually(async () => {
      const { items } = (await daemon.api('GET', '/api/v1/sessions')).json as {
        items: { bytesDown: number }[];
      };
      assert.ok((items[0]?.bytesDown ?? 0) > 0);
    });
    client.socket.resume();
    const { body } = await readResponse(client);
    assert.equal(body.length, BULK);
    client.destroy();
  });

  it('with the method HEAD has no content in its response, also when it is refused', async () => {
    const client = await RawClient.connect(port);
    client.send(get(url('/bulk')).replace('GET', 'HEAD') + get(url('/x')));
    assert.equal((await readHead(client)).status, 200);
    assert.equal((await readResponse(client)).status, 200);
    client.send(get('http://127.0.0.1:1/').replace('GET', 'HEAD'));
    assert.equal((await readHead(client)).status, 502);
    assert.equal((await client.readToEnd()).length, 0);
    client.destroy();
  });

  it('of HTTP/1.0 is answered, and the connection is closed', async () => {
    const client = await RawClient.connect(port);
    client.send(`GET ${url('/old')} HTTP/1.0\r\n${LOGIN}\r\n`);
    assert.match((await client.readToEnd()).toString(), /^HTTP\/1\.1 200 OK\r\n.*"url":"\/old"/s);
    client.destroy();
  });

  it('is answered with 502 when the destination does not respond, or not with HTTP', async (t) => {
    for (const answer of [
      '',
      'SSH-2.0-x\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    ]) {
      const client = await RawClient.connect(port);
      client.send(get(`http://127.0.0.1:${await startRaw(t, answer)}/`));
      assert.equal((await readResponse(client)).status, 502, answer);
      assert.equal(await client.closed(), 'closed');
    }
  });

  it('has a truncated response when the destination truncates it', async (t) => {
    for (const body of ['Content-Length: 9\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n9\r\nabc']) {
      const client = await RawClient.connect(port);
      client.send(get(`http://127.0.0.1:${await startRaw(t, `HTTP/1.1 200 OK\r\n${body}`)}/`));
      await readHead(client);
      const sent = (await client.readToEnd()).toString();
      assert.ok(sent.endsWith('abc'));
      client.destroy();
    }
  });

  it('closes the connection after a response that ends with its connection', async (t) => {
    const client = await RawClient.connect(port);
    client.send(get(`http://127.0.0.1:${await startRaw(t, 'HTTP/1.0 200 OK\r\n\r\nto the end')}/`));
    const { body, isKept } = await readResponse(client);
    assert.deepEqual([body, isKept], ['to the end', false]);
    client.destroy();
  });

  it('is never answered with excess bytes of the previous response', async (t) => {
    const response = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    const raw = await startRaw(t, `${response}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`, false);
    const client = await RawClient.connect(port);
    client.send(get(`http://127.0.0.1:${raw}/`) + get(url('/next')));
    assert.equal((await readResponse(client)).body, 'ok');
    assert.match((await readResponse(client)).body, /"url":"\/next"/);
    client.destroy();
  });

  it('with malformed chunks is answered 400, and the connection is closed', async (t) => {
    const raw = await startRaw(t, '', false);
    const client = await RawClient.connect(port);
    client.send(
      `POST http://127.0.0.1:${raw}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${LOGIN}\r\n3\r\nabcdef\r\n`,
    );
    assert.match(
      (await client.readToEnd()).toString(),
      /^HTTP\/1\.1 400 Bad Request\r\n.*\r\n\r\n400 Bad Request\n$/s,
    );
    client.destroy();
  });

  it('leaves no descriptor open after any way to disconnect', async () => {
    const held = openDescriptors(daemon.pid);
    for (const disconnect of ['destroy', 'resetAndDestroy', 'end'] as const) {
      for (const bytes of [get(url('/hang')), get(url('/bulk')), get(url('/bulk')).slice(0, 40)]) {
        const client = await RawClient.connect(port);
        client.socket.pause();
        client.send(bytes);
        await new Promise((done) => client.socket.write('', done));
        client.socket[disconnect]();
        client.socket.resume();
      }
    }
    // A session may begin late. Those that wait for a response are ended through the API.
    await eventually(async () => {
      const { items } = (await daemon.api('GET', '/api/v1/sessions')).json as { items: { id: string }[] };
      for (const { id } of items) await daemon.api('DELETE', `/api/v1/sessions/${id}`);
      assert.ok(openDescriptors(daemon.pid) <= held + 2);
    });
  });

  it('leaves its connection open for handshakeTimeout', async () => {
    const client = await RawClient.connect(port);
    client.send(get(url()));
    assert.equal((await readResponse(client)).status, 200);
    assert.equal(await client.closed(), 'closed');
  });
});
