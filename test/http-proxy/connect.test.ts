// The HTTP proxy on the players' port: CONNECT with the same accounts, guards, rules and limits as SOCKS5.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectHead, connectStatus, readHead } from '../helpers/http-proxy-client.js';
import { connectThrough, RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

describe('CONNECT', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;
  let port: number;
  let adminPort: number;

  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: {
        socks: {
          workers: 2,
          handshakeTimeout: '8s',
          http: { maxHeader: '1KiB' },
          login: { maxFailuresPerUser: 5 },
          listeners: [
            { host: '127.0.0.1', port: 0, protocols: ['socks5'] },
            { host: '127.0.0.1', port: 0, protocols: ['http'] },
          ],
        },
        egress: { deny: ['198.51.100.0/24'] },
      },
    });
    target = await startTarget(scope, echo);
    port = daemon.socks.port;
    adminPort = Number(new URL(daemon.adminUrl).port);
    await daemon.addAccount('player', 'secret');
  });

  const ports = (): number[] =>
    ((daemon.lines.find(({ msg }) => msg === 'ready')?.['socks'] as string[]) ?? []).map((each) =>
      Number(each.replace(/^.*:/, '')),
    );

  it('opens a tunnel on the port of SOCKS5, and the session names the protocol', async () => {
    const client = await RawClient.connect(port);
    client.send(`${connectHead(`127.0.0.1:${target.port}`)}early`);
    assert.equal((await readHead(client)).line, 'HTTP/1.1 200 Connection established');
    assert.equal((await client.read(5)).toString(), 'early');
    const socks = await connectThrough(
      { port, username: 'player', password: 'secret' },
      '127.0.0.1',
      target.port,
    );
    await eventually(async () => {
      const { items } = (await daemon.api('GET', '/api/v1/sessions')).json as {
        items: { clientProtocol: string; command: string }[];
      };
      assert.deepEqual(items.map(({ clientProtocol, command }) => [clientProtocol, command]).sort(), [
        ['http', 'connect'],
        ['socks5', 'connect'],
      ]);
    });
    client.socket.end();
    socks.destroy();
    assert.equal((await client.readToEnd()).length, 0);
    const ended = await daemon.waitForLine(
      ({ msg, clientProtocol }) => msg === 'session ended' && clientProtocol === 'http',
    );
    assert.equal(ended['account'], 'player');
    assert.equal(ended['bytesUp'], 5);
    assert.equal(ended['bytesDown'], 5);
  });

  it('works for accounts of every worker when the request arrives byte by byte', async () => {
    const names = ['one', 'two', 'three', 'four'];
    for (const name of names) await daemon.addAccount(name, `of ${name}`);
    await Promise.all(
      names.map(async (name) => {
        const client = await RawClient.connect(port);
        const fields = `Proxy-Authorization: ${basic(name, `of ${name}`)}\r\n`;
        for (const byte of Buffer.from(connectHead(`localhost:${target.port}`, fields))) {
          client.send(Buffer.from([byte]));
          await new Promise((done) => client.socket.write('', done));
        }
        assert.equal((await readHead(client)).status, 200, name);
        client.send('hello');
        assert.equal((await client.read(5)).toString(), 'hello');
        client.destroy();
      }),
    );
  });

  it('is answered with a status that names the reason of the refusal', async () => {
    await daemon.addAccount('disabled', 'secret', { IsEnabled: false });
    const as = (name: string, password = 'secret'): string =>
      `Proxy-Authorization: ${basic(name, password)}\r\n`;
    for (const [authority, fields, status] of [
      ['127.0.0.1:1', undefined, 502],
      ['198.51.100.7:80', undefined, 403],
      ['169.254.169.254:80', undefined, 403],
      ['0177.0.0.1:80', undefined, 403],
      ['no-such-name.invalid:80', undefined, 502],
      [`127.0.0.1:${port}`, undefined, 403],
      [`[::ffff:127.0.0.1]:${port}`, undefined, 403],
      ['127.0.0.1', undefined, 400],
      ['127.0.0.1:1', '', 407],
      ['127.0.0.1:1', as('player', 'wrong'), 407],
      ['127.0.0.1:1', as('nobody'), 407],
      ['127.0.0.1:1', as('disabled'), 407],
      ['127.0.0.1:1', `X: ${'y'.repeat(1024)}\r\n`, 431],
    ] as const) {
      assert.equal(await connectStatus(port, authority, fields), status, `${authority} ${fields}`);
    }
    await daemon.waitForLine(({ msg, user }) => msg === 'login failed' && user === 'nobody');
  });

  it('has the limits of its account', async () => {
    const id = await daemon.addAccount('full', 'secret');
    assert.equal(
      (await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, { maxSessions: 1 })).status,
      200,
    );
    const fields = `Proxy-Authorization: ${basic('full', 'secret')}\r\n`;
    const client = await RawClient.connect(port);
    client.send(connectHead(`127.0.0.1:${target.port}`, fields));
    assert.equal((await readHead(client)).status, 200);
    assert.equal(await connectStatus(port, `127.0.0.1:${target.port}`, fields), 403);
    client.destroy();
  });

  it('answers every failed login with the same bytes', async () => {
    const answers = await Promise.all(
      [basic('player', 'wrong'), basic('nobody', 'secret'), 'Bearer x', null].map(async (value) => {
        const client = await RawClient.connect(port);
        const field = value === null ? '' : `Proxy-Authorization: ${value}\r\n`;
        client.send(connectHead('127.0.0.1:1', field));
        const bytes = await client.readToEnd();
        assert.equal(await client.closed(), 'closed');
        return bytes.toString('latin1');
      }),
    );
    assert.equal(new Set(answers).size, 1);
    assert.match(
      answers[0] ?? '',
      /^HTTP\/1\.1 407 .*\r\nProxy-Authenticate: Basic realm="Pulsegate", charset="UTF-8"\r\n/,
    );
  });

  it('refuses connections to the admin port', async () => {
    const client = await RawClient.connect(port);
    client.send(connectHead(`127.0.0.1:${adminPort}`));
    const { status } = await readHead(client);
    assert.equal(status, 403);
    client.destroy();
  });

  it('counts wrong passwords together with SOCKS5: beyond the limit the right one is refused', async () => {
    await daemon.addAccount('guessed', 'secret');
    const wrong = `Proxy-Authorization: ${basic('guessed', 'wrong')}\r\n`;
    for (let i = 0; i < 5; i += 1) assert.equal(await connectStatus(port, '127.0.0.1:1', wrong), 407);
    const right = `Proxy-Authorization: ${basic('guessed', 'secret')}\r\n`;
    assert.equal(await connectStatus(port, '127.0.0.1:1', right), 407);
    await assert.rejects(
      connectThrough({ port, username: 'guessed', password: 'secret' }, '127.0.0.1', target.port),
      /login refused/,
    );
  });

  it('closes a connection whose request is not complete within handshakeTimeout', async () => {
    const client = await RawClient.connect(port);
    client.send('CONNECT 127.0.0.1:1 HTTP/1.1\r\nX');
    assert.equal((await client.readToEnd()).length, 0);
  });

  it('is served only on listeners with the protocol http, and SOCKS5 only on those with socks5', async () => {
    const [, socksOnly = 0, httpOnly = 0] = ports();
    const exchange = async (at: number, bytes: string): Promise<string> => {
      const client = await RawClient.connect(at);
      client.send(Buffer.from(bytes, 'latin1'));
      const answer = (await client.readToEnd()).toString('latin1');
      client.destroy();
      return answer;
    };
    assert.equal(await exchange(socksOnly, connectHead('127.0.0.1:1')), '\x05\xff');
    assert.equal(await exchange(httpOnly, '\x05\x01\x02'), '\x05\xff');
    assert.match(await exchange(httpOnly, connectHead('127.0.0.1:1', '')), /^HTTP\/1\.1 407 /);
    assert.equal(await connectStatus(httpOnly, '127.0.0.1:1'), 502);
  });

  it('is closed when its account is removed', async () => {
    const id = await daemon.addAccount('leaving', 'secret');
    const client = await RawClient.connect(port);
    client.send(
      connectHead(`127.0.0.1:${target.port}`, `Proxy-Authorization: ${basic('leaving', 'secret')}\r\n`),
    );
    assert.equal((await readHead(client)).status, 200);
    assert.equal((await daemon.api('POST', `/ProxyAccount/DeleteProxyAccount?AID=${id}`)).status, 200);
    await client.closed();
  });
});
