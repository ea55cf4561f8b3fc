// Destinations through an upstream proxy: rules, login, names, and the replies of upstream proxies.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { before, describe, it, test } from 'node:test';
import { parseIp } from '../../src/core/addresses/ip.js';
import { parseReply } from '../../src/proxy/protocols/socks5-client.js';
import { createUpstreams, type Upstream } from '../../src/proxy/upstreams/rules.js';
import { type LogLine, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startNameServer } from '../helpers/name-server.js';
import { freePort } from '../helpers/ports.js';
import { connectThrough, loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { type Scope, suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

const account = (daemon: TestDaemon, username = 'player') => ({
  port: daemon.socks.port,
  username,
  password: 'secret',
});

async function codeOf(daemon: TestDaemon, host: string | Buffer, port: number): Promise<number> {
  const client = await loggedInClient(account(daemon));
  client.send(request(host, port));
  const { code } = await readReply(client);
  client.destroy();
  return code;
}

describe('a daemon with another daemon as its upstream proxy', () => {
  const scope = suiteScope();
  let upstream: TestDaemon;
  let daemon: TestDaemon;
  let target: Target;

  before(async () => {
    // Each daemon can resolve names that the other cannot.
    const upstreamNames = await startNameServer(scope, (name, family) =>
      family === 4 && name.endsWith('.upstream.test') ? ['127.0.0.1'] : undefined,
    );
    const names = await startNameServer(scope, (name, family) =>
      family === 4 && name.endsWith('.local.test') ? ['127.0.0.1'] : undefined,
    );
    upstream = await startTestDaemon(scope, { config: { dns: { servers: [upstreamNames.address] } } });
    await upstream.addAccount('child', 'child-secret');
    target = await startTarget(scope, echo);
    const passwordFile = join(upstream.dataDir, 'child-password');
    await writeFile(passwordFile, 'child-secret\n', { mode: 0o600 });
    const proxy = `127.0.0.1:${upstream.socks.port}`;
    daemon = await startTestDaemon(scope, {
      config: {
        dns: { servers: [names.address] },
        egress: { private: 'allow', deny: ['bad.upstream.test', '127.0.0.66', '*:25'] },
        socks: {
          upstreams: [
            { match: { hosts: ['direct.local.test'] }, proxy: null },
            { match: { hosts: ['*.upstream.test'] }, proxy, username: 'child', passwordFile, names: 'proxy' },
            {
              match: { hosts: ['*.local.test', '127.0.0.66'] },
              proxy,
              username: 'child',
              password: 'child-secret',
            },
            { match: { hosts: ['127.0.0.77'] }, proxy, username: 'child', password: 'wrong' },
            { match: { hosts: ['127.0.0.78'] }, proxy: '127.0.0.1:1' },
          ],
        },
      },
    });
    await daemon.addAccount('player', 'secret');
  });

  for (const [kind, name, via] of [
    ['a name that only the upstream proxy knows', 'game.upstream.test', true],
    ['a name that this daemon resolves', 'game.local.test', true],
    ['a name with a rule without an upstream proxy', 'direct.local.test', false],
  ] as const) {
    it(`connects to ${kind}${via ? ' through it' : ' directly'}`, async () => {
      const before = { own: daemon.lines.length, upstream: upstream.lines.length };
      const client = await connectThrough(account(daemon), name, target.port);
      client.send('ping');
      assert.equal((await client.read(4)).toString(), 'ping');
      client.socket.end();
      await client.closed();
      const line = await daemon.waitForLine(
        (each) => each.msg === 'session ended' && daemon.lines.indexOf(each) >= before.own,
      );
      assert.equal(line['destination'], `${name}:${target.port}`);
      assert.equal(line['via'], via ? `127.0.0.1:${upstream.socks.port}` : undefined);
      if (!via) return;
      const upstreamLine = await upstream.waitForLine(
        (each) => each.msg === 'session ended' && upstream.lines.indexOf(each) >= before.upstream,
      );
      const requested = name.endsWith('.upstream.test') ? name : '127.0.0.1';
      assert.deepEqual(
        [upstreamLine['account'], upstreamLine['destination']],
        ['child', `${requested}:${target.port}`],
      );
    });
  }

  it('replies with the reason of the upstream proxy when that could not connect', async () => {
    assert.equal(
      await codeOf(daemon, 'nobody.upstream.test.nowhere', 80),
      4,
      'this daemon resolves the name, which does not exist',
    );
    assert.equal(await codeOf(daemon, 'closed.local.test', 1), 5);
    assert.equal(await codeOf(daemon, 'closed.upstream.test', 1), 5);
  });

  it('applies its egress rules to names, ports and addresses that it knows', async () => {
    assert.equal(await codeOf(daemon, 'bad.upstream.test', target.port), 2);
    assert.equal(await codeOf(daemon, 'game.upstream.test', 25), 2);
    assert.equal(await codeOf(daemon, '127.0.0.66', target.port), 2);
  });

  it('replies 01 when the upstream proxy refuses the login or cannot be reached', async () => {
    assert.equal(await codeOf(daemon, '127.0.0.77', target.port), 1);
    assert.equal(await codeOf(daemon, '127.0.0.78', target.port), 1);
    for (const reason of ['upstream-login', 'upstream-ECONNREFUSED']) {
      await daemon.waitForLine((line) => line.msg === 'destination refused' && line['reason'] === reason);
    }
  });
});

describe('a request through an upstream proxy', () => {
  const scope = suiteScope();
  /** Starts a server that answers each message of a client with the next of `answers`; null closes the connection. */
  async function fakeUpstream(t: Scope, answers: readonly (string | null)[]): Promise<number> {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      const remaining = [...answers];
      socket.on('error', () => {});
      socket.on('data', () => {
        const next = remaining.shift();
        if (next === null) socket.destroy();
        else if (next !== undefined) socket.write(Buffer.from(next.replaceAll(' ', ''), 'hex'));
      });
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const address = server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  const BOUND = '01 7f000001 1f90';
  const fakes = [
    ['that requires no login', ['0500', `050000 ${BOUND}`], 0],
    ['that binds a name', ['0500', '050000 03 03 616263 1f90'], 0],
    ['that binds an IPv6 address', ['0500', `050000 04 ${'00'.repeat(16)} 1f90`], 0],
    ['that refuses by its rules', ['0500', `050200 ${BOUND}`], 2],
    ['that refuses with two bytes', ['0500', '0504'], 4],
    ['that refuses with an unknown code', ['0500', `055500 ${BOUND}`], 1],
    ['that accepts no method', ['05ff'], 1],
    ['that requires a login that is not configured', ['0502'], 1],
    ['that requires GSSAPI', ['0501'], 1],
    ['that speaks SOCKS4', ['0400'], 1],
    ['that answers with malformed bytes', ['0500', '485454502f'], 1],
    ['that closes the connection at once', [null], 1],
    ['that closes the connection instead of a reply', ['0500', null], 1],
    ['that binds an unknown type', ['0500', '050000 09 00 00'], 1],
    ['that does not answer', [], 6],
    ['that stops in the middle of its reply', ['0500', '050000 01 7f'], 6],
  ] as const;
  /** The destination of each upstream proxy. */
  const destination = (i: number): string => `192.0.2.${i + 1}`;
  const [GREETED, COUNTED, ITSELF, DEAD] = ['192.0.2.101', '192.0.2.102', '192.0.2.103', '192.0.2.104'];
  let behindAll: TestDaemon;
  let deadProxy: string;
  before(async () => {
    const port = await freePort();
    const greeting = await fakeUpstream(scope, ['0500', `050000 ${BOUND} 68656c6c6f`]);
    const counted = await fakeUpstream(scope, ['0500', `050000 ${BOUND} 68656c6c6f`, '776f726c64']);
    deadProxy = `127.0.0.1:${await freePort()}`;
    const upstreams = [
      { match: { hosts: [DEAD] }, proxy: deadProxy },
      { match: { hosts: [GREETED] }, proxy: `localhost:${greeting}` },
      { match: { hosts: [COUNTED] }, proxy: `127.0.0.1:${counted}` },
      { match: { hosts: [ITSELF] }, proxy: `127.0.0.1:${port}` },
      ...(await Promise.all(
        fakes.map(async ([, answers], i) => ({
          match: { hosts: [destination(i)] },
          proxy: `127.0.0.1:${await fakeUpstream(scope, answers)}`,
        })),
      )),
    ];
    behindAll = await startTestDaemon(scope, {
      config: { socks: { port, connectTimeout: '4s', upstreams } },
    });
    await behindAll.addAccount('player', 'secret');
  });
  for (const [i, [kind, , code]] of fakes.entries()) {
    it(`${kind} gets reply ${code}`, async () => {
      assert.equal(await codeOf(behindAll, destination(i), 80), code);
    });
  }

  it('relays data that follows the reply at once', async () => {
    const client = await connectThrough(account(behindAll), GREETED, 80);
    assert.equal((await client.read(5)).toString(), 'hello');
    client.destroy();
  });

  it('counts data that follows the reply for the quota', async () => {
    const id = await behindAll.addAccount('counted', 'secret');
    await behindAll.api('PATCH', `/api/v1/accounts/${id}/limits`, { quotaBytes: 8, quotaPeriod: 'never' });
    const client = await connectThrough(account(behindAll, 'counted'), COUNTED, 80);
    assert.equal((await client.read(5)).toString(), 'hello');
    client.send('x');
    assert.equal((await client.readToEnd()).toString(), 'wo');
    const line = await behindAll.waitForLine(
      (each) => each.msg === 'session ended' && each['account'] === 'counted',
    );
    assert.deepEqual([line['end'], line['bytesUp'], line['bytesDown']], ['over-quota', 1, 7]);
  });

  it('is checked as the one way out of its exit: the log and the metrics name it, and nothing else', async () => {
    const isDown = (line: LogLine) => line.msg === 'exit does not answer' && line['exit'] === 'upstream-1';
    await behindAll.waitForLine(isDown);
    const ways = await eventually(async () => {
      const { text } = await behindAll.api('GET', '/metrics');
      const found = [...text.matchAll(/^pulsegate_exit_up\{exit="upstream-1",way="([^"]+)".* 0$/gm)];
      assert.ok(found.length > 0);
      return found.map(([, way]) => way);
    });
    assert.deepEqual(ways, [deadProxy]);
    assert.deepEqual(
      behindAll.lines.filter(isDown).map((line) => line['way']),
      [deadProxy],
    );
  });

  it('that is the daemon itself is refused', async () => {
    assert.equal(await codeOf(behindAll, ITSELF, 80), 1);
    await behindAll.waitForLine((line) => line['reason'] === 'upstream-is-this-proxy');
  });
});

test('the first matching rule selects the upstream proxy; rules for addresses match after the name is resolved', () => {
  const upstream = (host: string, names: Upstream['names'] = 'here'): Upstream => ({
    protocol: 'socks5',
    host,
    port: 1080,
    login: null,
    tls: null,
    names,
    exit: 'upstream-1',
    id: `upstream-1 ${host}:1080`,
  });
  const rules = createUpstreams([
    { match: { hosts: ['198.51.100.0/24'] }, upstream: upstream('by-address') },
    { match: { hosts: ['exact.example'] }, upstream: null },
    { match: { hosts: ['*.example'], ports: ['7000-7100'] }, upstream: upstream('by-name', 'proxy') },
    { match: { ports: [443] }, upstream: upstream('by-port', 'proxy') },
  ]);
  const ip = (text: string) => parseIp(text) ?? new Uint8Array(4);
  assert.equal(rules.select('x.example', ip('198.51.100.7'), 7000)?.host, 'by-address');
  assert.equal(rules.select('exact.example', ip('192.0.2.1'), 443), null);
  assert.equal(rules.select('x.example', ip('192.0.2.1'), 7050)?.host, 'by-name');
  assert.equal(rules.select('x.example', ip('192.0.2.1'), 80), undefined);
  assert.equal(rules.select('192.0.2.1', ip('192.0.2.1'), 443)?.host, 'by-port');
  assert.equal(rules.selectForName('x.example', 7000)?.host, 'by-name');
  assert.equal(rules.selectForName('exact.example', 443), null);
  assert.equal(rules.selectForName('x.example', 80), undefined);
});

test('an incomplete reply of an upstream proxy is never malformed', () => {
  const whole = Buffer.from('05000003036162631f90', 'hex');
  for (let length = 0; length < whole.length; length += 1)
    assert.equal(parseReply(whole.subarray(0, length)), 'more');
  assert.deepEqual(parseReply(Buffer.concat([whole, Buffer.from('rest')])), {
    code: 0,
    address: '0.0.0.0',
    port: 8080,
    length: whole.length,
  });
});
