// The HTTP server: malformed and oversized requests, bodies that exceed the limit, and its close.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, test } from 'node:test';
import { ADMIN, startTestAdmin } from '../helpers/admin.js';
import { basic, exchange, parseExchange, send } from '../helpers/http.js';
import { suiteScope } from '../helpers/suite.js';

const authorization = basic(ADMIN.username, ADMIN.password);
const LIST = '/ProxyAccount/GetProxyAccountList';
const ADD = '/ProxyAccount/AddProxyAccount';
const head = (method: string, path: string, ...more: string[]) =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: ${authorization}`,
    'Connection: close',
    ...more,
    '',
    '',
  ].join('\r\n');
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

const UNREADABLE: [string, string | Buffer, number][] = [
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex'), 400],
  ['a SOCKS5 greeting', Buffer.from([5, 1, 0, 13, 10, 13, 10]), 400],
  ['an unknown method', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a control byte in a header', `GET ${LIST} HTTP/1.1\r\nHost: x\r\nX: a\u0001b\r\n\r\n`, 400],
  ['a space before the colon', `GET ${LIST} HTTP/1.1\r\nHost : x\r\n\r\n`, 400],
  ['a header without a colon', `GET ${LIST} HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n`, 400],
  [
    'two different lengths',
    `POST ${ADD} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    400,
  ],
  [
    'a length and chunks',
    `POST ${ADD} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    400,
  ],
  ['a negative length', `POST ${ADD} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`, 400],
  [
    'a chunk that is no number',
    `${head('POST', ADD, 'Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n`,
    400,
  ],
  ['a head of 20 KB', `GET ${LIST} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
];
describe('one server', async () => {
  const admin = await startTestAdmin(suiteScope());

  for (const [name, bytes, status] of UNREADABLE) {
    it(`${name} gets ${status}, and the connection is closed`, async () => {
      const answer = parseExchange(await exchange(admin.url, bytes));
      assert.equal(answer.status, status, answer.head);
      assert.equal(answer.json, '请求格式错误');
      assert.equal((await admin.api('GET', LIST)).status, 200);
    });
  }

  it('a request of HTTP/1.1 without Host gets 400', async () => {
    const received = await exchange(admin.url, `GET ${LIST} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    assert.equal(parseExchange(received).status, 400);
  });

  it('HTTP/1.0 and an absolute request target are answered', async () => {
    const old = await exchange(admin.url, `GET ${LIST} HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`);
    assert.equal(parseExchange(old).status, 200);
    const absolute = await exchange(admin.url, head('GET', `http://localhost${LIST}`));
    assert.equal(parseExchange(absolute).status, 200);
    assert.equal(parseExchange(await exchange(admin.url, head('OPTIONS', '*'))).status, 404);
  });

  it('CONNECT and protocol upgrades are refused', async () => {
    assert.equal(await exchange(admin.url, 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n'), '');
    const upgrade = head('GET', LIST, 'Upgrade: h2c').replace(
      'Connection: close',
      'Connection: Upgrade, close',
    );
    assert.equal(parseExchange(await exchange(admin.url, upgrade)).status, 200);
  });

  it('HEAD is answered like GET, without the body', async () => {
    await admin.addAccount('a');
    const [get, headOnly] = await Promise.all([admin.api('GET', LIST), admin.api('HEAD', LIST)]);
    assert.equal(headOnly.status, 200);
    assert.equal(headOnly.text, '');
    assert.equal(headOnly.headers['content-length'], get.headers['content-length']);
    assert.equal(headOnly.headers['content-type'], 'application/json; charset=utf-8');
  });

  it('chunks of more than 64 KiB are refused while they arrive, and the connection stays usable', async () => {
    const start = head('POST', ADD, 'Content-Type: application/json', 'Transfer-Encoding: chunked');
    const overrun = `${chunk('x'.repeat(16_000)).repeat(200)}0\r\n\r\n`;
    const next = head('GET', LIST);
    const received = await exchange(admin.url, start.replace('Connection: close\r\n', '') + overrun + next);
    assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 200']);
    assert.match(received, /"请求体过大"/);
  });

  it('a length over 64 KiB is refused before the body is sent', async () => {
    for (const length of ['65537', '4294967297', '99999999999']) {
      const start = head('POST', ADD, 'Content-Type: application/json', `Content-Length: ${length}`);
      assert.equal(parseExchange(await exchange(admin.url, start)).status, 413, length);
    }
  });

  it('a compressed transfer encoding gets 415', async () => {
    const start = head('POST', ADD, 'Content-Type: application/json', 'Transfer-Encoding: gzip, chunked');
    assert.equal(parseExchange(await exchange(admin.url, `${start}0\r\n\r\n`)).status, 415);
  });

  it('a request that arrives byte by byte is answered', async () => {
    const body = JSON.stringify({ Username: '用户', Password: 'x' });
    const start = head(
      'POST',
      ADD,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    );
    const bytes = Buffer.from(start + body);
    const { hostname, port } = new URL(admin.url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let received = '';
    socket.on('data', (data: Buffer) => {
      received += data.toString();
    });
    for (const byte of bytes) {
      if (!socket.write(Buffer.of(byte))) await once(socket, 'drain');
    }
    await once(socket, 'close');
    assert.equal(parseExchange(received).json, '添加账号成功');
    assert.ok(admin.accounts.getByUsername('用户'));
  });

  it('a client that disconnects in the middle of its body changes nothing', async () => {
    const { hostname, port } = new URL(admin.url);
    const before = (await admin.api('GET', LIST)).json;
    for (let i = 0; i < 20; i++) {
      const socket = connect(Number(port), hostname);
      socket.write(
        `${head('POST', ADD, 'Content-Type: application/json', 'Content-Length: 100')}{"Username":`,
      );
      await once(socket, 'connect');
      socket.destroy();
    }
    assert.deepEqual((await admin.api('GET', LIST)).json, before);
  });

  it('requests on one connection are answered in order', async () => {
    const keep = head('GET', LIST).replace('Connection: close\r\n', '');
    const missing = head('GET', '/nowhere').replace('Connection: close\r\n', '');
    const received = await exchange(admin.url, keep + missing + keep + head('GET', LIST));
    assert.deepEqual(
      received.match(/HTTP\/1\.1 \d+/g),
      ['200', '404', '200', '200'].map((s) => `HTTP/1.1 ${s}`),
    );
  });
});

test('close ends idle and delayed connections at once, and accepts no new ones', async (t) => {
  // The delay is longer than the time limit of the test, and must not delay `close`.
  const admin = await startTestAdmin(t, { random: () => 1e6 });
  const { hostname, port } = new URL(admin.url);
  const silent = connect(Number(port), hostname);
  const idle = connect(Number(port), hostname);
  idle.write(`GET ${LIST} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  await Promise.all([once(silent, 'connect'), once(idle, 'data')]);
  const waiting = send(admin.url + LIST, { headers: { authorization: basic('admin', 'wrong') } }).then(
    () => 'answered',
    () => 'hung up',
  );
  while (!admin.lines.some((line) => line['msg'] === 'admin login failed')) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const closed = Promise.all([once(silent, 'close'), once(idle, 'close')]);
  await admin.server.close();
  await closed;
  assert.equal(await waiting, 'hung up');
  await assert.rejects(send(admin.url + LIST), { code: 'ECONNREFUSED' });
});

test('close waits for the answer of a request in progress', async (t) => {
  const admin = await startTestAdmin(t);
  const { hostname, port } = new URL(admin.url);
  const body = '{"Username":"a","Password":"b"}';
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (data: Buffer) => {
    received += data.toString();
  });
  const start = head(
    'POST',
    ADD,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  );
  socket.write(start);
  await once(socket, 'data');
  assert.match(received, /^HTTP\/1\.1 100 Continue/);
  const closed = admin.server.close();
  const ended = once(socket, 'close');
  socket.write(body);
  await Promise.all([closed, ended]);
  assert.match(received, /"添加账号成功"$/);
});
