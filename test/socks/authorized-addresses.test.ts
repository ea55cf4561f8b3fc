// Clients without credentials log in by their address: with SOCKS5 "no authentication", SOCKS4, SOCKS4A and HTTP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectHead, readHead } from '../helpers/http-proxy-client.js';
import { needs, PYTHON_SOCKS } from '../helpers/programs.js';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { datagram, startUdpEcho, UDP_ASSOCIATE, UdpEnd, unwrap } from '../helpers/udp-client.js';

const run = promisify(execFile);
const BALANCER = '127.0.3.1';
const NO_METHOD = '05ff';
const BIND = 2;

interface SessionItem {
  readonly username: string;
  readonly clientProtocol: string;
  readonly client: { readonly address: string };
}

describe('an account with authorized addresses', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;
  let port: number;
  let balancedPort: number;

  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: {
        socks: {
          // Several workers, so that the one that accepts a client is often not that of its account.
          workers: 3,
          bind: { enabled: true },
          maxAuthorizedAddresses: 3,
          login: { maxFailuresPerUser: 4, failureWindow: '1h' },
          proxyProtocolFrom: [BALANCER],
          listeners: [
            { host: '127.0.0.1', port: 0, proxyProtocol: true },
            { host: '127.0.0.1', port: 0, protocols: ['socks5'] },
          ],
        },
      },
    });
    target = await startTarget(scope, echo);
    port = daemon.socks.port;
    balancedPort = ports()[1] ?? 0;
    for (const [at, name] of ['one', 'two', 'three', 'four', 'five'].entries())
      await authorize(await daemon.addAccount(name, `of ${name}`), [`127.0.1.${at + 1}`]);
    await authorize(await daemon.addAccount('balancer', 'secret'), [BALANCER]);
  });

  const ports = (): number[] =>
    ((daemon.lines.find(({ msg }) => msg === 'ready')?.['socks'] as string[]) ?? []).map((each) =>
      Number(each.replace(/^.*:/, '')),
    );

  async function authorize(id: string, authorizedAddresses: readonly string[]): Promise<void> {
    const answer = await daemon.api('PATCH', `/api/v1/accounts/${id}`, { authorizedAddresses });
    assert.equal(answer.status, 200, answer.text);
  }

  const sessions = async (): Promise<SessionItem[]> =>
    ((await daemon.api('GET', '/api/v1/sessions')).json as { items: SessionItem[] }).items;

  const untilNoSessions = (): Promise<void> => eventually(async () => assert.deepEqual(await sessions(), []));

  const socks4 = (command = 1, host = Buffer.from([127, 0, 0, 1]), name = ''): Buffer => {
    const head = Buffer.from([4, command, target.port >> 8, target.port & 255]);
    return Buffer.concat([head, host, Buffer.from(`someone\0${name}`)]);
  };

  /** The handshake of each protocol without credentials. Resolves with null, or with the reply of the refusal. */
  const handshakes: Readonly<Record<string, (client: RawClient) => Promise<string | null>>> = {
    async socks5(client) {
      client.send(greeting(0));
      const method = (await client.read(2)).toString('hex');
      if (method !== '0500') return method;
      client.send(request('127.0.0.1', target.port));
      assert.equal((await readReply(client)).code, 0);
      return null;
    },
    async socks4(client) {
      client.send(socks4());
      const answer = await client.read(8);
      return answer[1] === 90 ? null : answer.toString('hex');
    },
    async socks4a(client) {
      client.send(socks4(1, Buffer.from([0, 0, 0, 7]), 'localhost\0'));
      const answer = await client.read(8);
      return answer[1] === 90 ? null : answer.toString('hex');
    },
    async http(client) {
      client.send(connectHead(`127.0.0.1:${target.port}`, ''));
      const { status } = await readHead(client);
      return status === 200 ? null : String(status);
    },
  };

  async function assertEcho(client: RawClient): Promise<void> {
    client.send('hello');
    assert.equal((await client.read(5)).toString(), 'hello');
  }

  for (const [name, handshake] of Object.entries(handshakes)) {
    it(`is used by a ${name} client from its address, whichever worker accepts`, async () => {
      for (const [at, username] of ['one', 'two', 'three', 'four', 'five'].entries()) {
        const address = `127.0.1.${at + 1}`;
        const client = await RawClient.connect(port, '127.0.0.1', address);
        assert.equal(await handshake(client), null);
        await assertEcho(client);
        const found = (await sessions()).find((one) => one.client.address === address);
        assert.equal(found?.username, username);
        assert.equal(found?.clientProtocol, name.replace('4a', '4'));
        client.destroy();
        await untilNoSessions();
      }
    });
  }

  it('is not used from other addresses: every protocol refuses the client', async () => {
    const answers: (string | null)[] = [];
    for (const handshake of Object.values(handshakes)) {
      const client = await RawClient.connect(port, '127.0.0.1', '127.0.2.1');
      answers.push(await handshake(client));
      assert.equal(await client.closed(), 'closed');
    }
    assert.deepEqual(answers, [NO_METHOD, '005d000000000000', '005d000000000000', '407']);
  });

  it('is not needed for a log line: unknown clients are logged like failed logins, but HTTP requests credentials first', async () => {
    const connectUnknown = async (handshake: string, address: string): Promise<void> => {
      const client = await RawClient.connect(port, '127.0.0.1', address);
      assert.notEqual(await handshakes[handshake]?.(client), null);
      await client.closed();
    };
    const logged = (address: string) =>
      daemon.lines.filter(({ msg, client }) => msg === 'login failed' && client === address);
    const counted = async (): Promise<number> => {
      const { text } = await daemon.api('GET', '/metrics');
      return Number(/^pulsegate_logins_total\{outcome="no-credentials"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await counted();
    for (const handshake of ['socks5', 'socks4', 'socks4a']) await connectUnknown(handshake, '127.0.2.2');
    await eventually(async () => {
      assert.deepEqual(
        logged('127.0.2.2').map(({ reason, user }) => [reason, user]),
        [
          ['no-credentials', ''],
          ['no-credentials', ''],
          ['no-credentials', ''],
        ],
      );
      assert.equal(await counted(), before + 3);
      const { json } = await daemon.api('GET', '/api/v1/logins?search=127.0.2.2');
      const { items } = json as { items: { outcome: string; username: string; times: number }[] };
      assert.deepEqual(
        items.map(({ outcome, username, times }) => [outcome, username, times]),
        [['no-credentials', '', 3]],
      );
    });
    // The limit is 4: the fifth has its own line, and later ones are only counted.
    for (const handshake of ['socks5', 'socks5', 'socks5']) await connectUnknown(handshake, '127.0.2.2');
    await daemon.waitForLine(
      ({ msg, clients }) => msg === 'clients without credentials refused' && clients === 1,
    );
    await eventually(async () => assert.equal(logged('127.0.2.2').length, 5));

    for (let times = 0; times < 4; times += 1) await connectUnknown('http', '127.0.2.3');
    const client = await RawClient.connect(port, '127.0.0.1', '127.0.2.3');
    client.send(
      connectHead(`127.0.0.1:${target.port}`, `Proxy-Authorization: ${basic('one', 'of one')}\r\n`),
    );
    assert.equal((await readHead(client)).status, 200);
    client.destroy();
    for (let times = 0; times < 4; times += 1) await connectUnknown('http', '127.0.2.3');
    await connectUnknown('socks5', '127.0.2.4');
    await daemon.waitForLine(({ msg, client: from }) => msg === 'login failed' && from === '127.0.2.4');
    assert.deepEqual(logged('127.0.2.3'), []);
    await connectUnknown('http', '127.0.2.3');
    await daemon.waitForLine(({ msg, client: from }) => msg === 'login failed' && from === '127.0.2.3');
  });

  it('is used only without credentials: credentials take precedence, and empty ones count as none', async () => {
    const attempt = async (bytes: Buffer): Promise<string> => {
      const client = await RawClient.connect(port, '127.0.0.1', '127.0.1.1');
      client.send(greeting(0, 2));
      assert.equal((await client.read(2)).toString('hex'), '0502');
      client.send(bytes);
      const answer = (await client.read(2)).toString('hex');
      if (answer !== '0100') return answer;
      client.send(request('127.0.0.1', target.port));
      assert.equal((await readReply(client)).code, 0);
      await assertEcho(client);
      const username = (await sessions()).map((one) => one.username).join();
      client.destroy();
      await untilNoSessions();
      return username;
    };
    assert.equal(await attempt(login('two', 'of two')), 'two');
    assert.equal(await attempt(login('', '')), 'one');
    assert.equal(await attempt(login('one', 'wrong')), '0101');
  });

  it('is not used by a source that has guessed too often, and only the first refusal is logged by itself', async () => {
    const address = '127.0.9.1';
    await authorize(await daemon.addAccount('guessed', 'secret'), [address]);
    for (let i = 0; i < 50; i += 1) {
      const client = await RawClient.connect(port, '127.0.0.1', address);
      client.send(Buffer.concat([greeting(2), login(`guess-${i}`, 'x')]));
      await client.closed();
    }
    for (let i = 0; i < 3; i += 1) {
      const client = await RawClient.connect(port, '127.0.0.1', address);
      assert.equal(await handshakes['socks5']?.(client), NO_METHOD);
      await client.closed();
    }
    await daemon.waitForLine(({ msg }) => msg === 'logins of blocked addresses refused');
    const counted = () =>
      daemon.lines
        .filter(({ msg }) => msg === 'logins of blocked addresses refused')
        .map(({ logins }) => logins);
    await eventually(() =>
      assert.equal(
        counted().reduce((sum: number, each) => sum + Number(each), 0),
        2,
      ),
    );
    const blocked = daemon.lines.filter(
      ({ client, reason }) => client === address && reason === 'blocked-address',
    );
    assert.deepEqual(
      blocked.map(({ msg, user }) => [msg, user]),
      [['login failed', 'guessed']],
    );
  });

  it('cannot be used by SOCKS4 on a listener for SOCKS5 only', async () => {
    const client = await RawClient.connect(ports()[2] ?? 0, '127.0.0.1', '127.0.1.1');
    client.send(socks4());
    assert.equal((await client.readToEnd()).toString('hex'), NO_METHOD);
  });

  it('can use SOCKS4 BIND, which replies twice and relays', async () => {
    const client = await RawClient.connect(port, '127.0.0.1', '127.0.1.1');
    client.send(socks4(BIND));
    const first = await client.read(8);
    assert.equal(first[1], 90);
    const peer = await RawClient.connect(first.readUInt16BE(2));
    const second = await client.read(8);
    assert.deepEqual([...second], [0, 90, ...portBytes(peer.socket.localPort ?? 0), 127, 0, 0, 1]);
    peer.send('hello');
    assert.equal((await client.read(5)).toString(), 'hello');
    client.destroy();
    peer.destroy();
  });

  it('can use UDP ASSOCIATE without credentials', async () => {
    const udpEcho = await startUdpEcho(scope);
    const client = await RawClient.connect(port, '127.0.0.1', '127.0.1.2');
    client.send(greeting(0));
    await client.read(2);
    client.send(request('0.0.0.0', 0, UDP_ASSOCIATE));
    const { code, port: relay } = await readReply(client);
    assert.equal(code, 0);
    const udp = await UdpEnd.open(scope, '127.0.1.2');
    udp.send(datagram('127.0.0.1', udpEcho.port, 'ping'), relay, '127.0.0.1');
    assert.equal(unwrap((await udp.receive()).data).data.toString(), 'ping');
    client.destroy();
  });

  it('is not used for a load balancer without a PROXY header; the header determines the client', async () => {
    for (const [name, handshake] of Object.entries(handshakes)) {
      const plain = await RawClient.connect(port, '127.0.0.1', BALANCER);
      assert.notEqual(await handshake(plain), null, `${name} on the listener without headers`);
      plain.destroy();
      const local = await RawClient.connect(balancedPort, '127.0.0.1', BALANCER);
      local.send('PROXY UNKNOWN\r\n');
      assert.notEqual(await handshake(local), null, `${name} behind a header without a client`);
      local.destroy();
      const named = await RawClient.connect(balancedPort, '127.0.0.1', BALANCER);
      named.send('PROXY TCP4 127.0.1.3 127.0.0.1 4242 1080\r\n');
      assert.equal(await handshake(named), null, `${name} behind a header`);
      await eventually(async () => assert.equal((await sessions())[0]?.username, 'three'));
      named.destroy();
      await untilNoSessions();
    }
  });

  it('is refused when it is disabled, and has its limits', async () => {
    const id = await daemon.addAccount('held', 'secret');
    await authorize(id, ['127.0.4.1']);
    const limits = { maxSessions: 1 };
    assert.equal((await daemon.api('PATCH', `/api/v1/accounts/${id}`, { limits })).status, 200);
    const first = await RawClient.connect(port, '127.0.0.1', '127.0.4.1');
    assert.equal(await handshakes['socks4']?.(first), null);
    const second = await RawClient.connect(port, '127.0.0.1', '127.0.4.1');
    assert.equal(await handshakes['socks4']?.(second), '005b000000000000');
    await daemon.api('PATCH', `/api/v1/accounts/${id}`, { isEnabled: false });
    await first.closed();
    const third = await RawClient.connect(port, '127.0.0.1', '127.0.4.1');
    assert.equal(await handshakes['socks4']?.(third), '005d000000000000');
    const refused = await daemon.waitForLine(({ msg, user }) => msg === 'login refused' && user === 'held');
    assert.deepEqual([refused['reason'], refused['client']], ['disabled', '127.0.4.1']);
  });

  it('loses only the sessions of an address that is removed', async () => {
    const id = await daemon.addAccount('moving', 'secret');
    await authorize(id, ['127.0.5.0/24']);
    const [byAddress, byLogin] = await Promise.all(
      ['127.0.5.1', '127.0.5.2'].map((from) => RawClient.connect(port, '127.0.0.1', from)),
    );
    assert.ok(byAddress && byLogin);
    assert.equal(await handshakes['socks5']?.(byAddress), null);
    byLogin.send(Buffer.concat([greeting(2), login('moving', 'secret'), request('127.0.0.1', target.port)]));
    await byLogin.read(14);
    await assertEcho(byAddress);
    await authorize(id, ['127.0.5.9', '127.0.5.8']);
    await byAddress.closed();
    const ended = await daemon.waitForLine(
      ({ msg, end }) => msg === 'session ended' && end === 'address-removed',
    );
    assert.equal(ended['account'], 'moving');
    await assertEcho(byLogin);
    byLogin.destroy();
    const again = await RawClient.connect(port, '127.0.0.1', '127.0.5.1');
    assert.equal(await handshakes['socks5']?.(again), NO_METHOD);
    const added = await RawClient.connect(port, '127.0.0.1', '127.0.5.8');
    assert.equal(await handshakes['socks5']?.(added), null);
    added.destroy();
    assert.equal((await daemon.api('DELETE', `/api/v1/accounts/${id}`)).status, 200);
    const removed = await RawClient.connect(port, '127.0.0.1', '127.0.5.8');
    assert.equal(await handshakes['socks5']?.(removed), NO_METHOD);
  });

  it('cannot have overlapping, invalid or too many addresses in the API, and is found by an address', async () => {
    const id = await daemon.addAccount('picky', 'secret');
    const patch = (authorizedAddresses: string[]) =>
      daemon.api('PATCH', `/api/v1/accounts/${id}`, { authorizedAddresses });
    const taken = await patch(['198.51.100.1', '127.0.1.0/31']);
    assert.equal(taken.status, 409);
    assert.match(taken.text, /127\.0\.1\.0\/31 overlaps an address of the account .*one/);
    const malformed = await patch(['player.example']);
    assert.equal(malformed.status, 400);
    assert.match(malformed.text, /player\.example.* is neither an address/);
    const four = ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4'];
    assert.match((await patch(four)).text, /at most 3 addresses/);
    assert.equal((await patch(four.slice(1))).status, 200);
    const found = await daemon.api('GET', '/api/v1/accounts?authorizedAddress=198.51.100.3');
    const { items } = found.json as { items: { username: string; authorizedAddresses: string[] }[] };
    assert.deepEqual(
      items.map((item) => [item.username, item.authorizedAddresses]),
      [['picky', four.slice(1)]],
    );
    const audit = (await daemon.api('GET', '/api/v1/audit?limit=1')).text;
    assert.match(audit, /"authorizedAddresses":"198\.51\.100\.2, 198\.51\.100\.3, 198\.51\.100\.4"/);
  });

  it('can get addresses on the command line, which the running daemon applies', async () => {
    const pulsegate = (...args: string[]) =>
      runCommand(daemon.dataDir, ['account', ...args, '--config', daemon.configFile]);
    await daemon.addAccount('typed', 'secret');
    assert.equal((await pulsegate('update', 'typed', '--authorize', '127.0.6.1')).code, 0);
    await eventually(async () => {
      const client = await RawClient.connect(port, '127.0.0.1', '127.0.6.1');
      const refused = await handshakes['socks4']?.(client);
      client.destroy();
      assert.equal(refused, null);
    });
    assert.match((await pulsegate('show', 'typed')).stdout, /authorized +127\.0\.6\.1/);
    const taken = await pulsegate('update', 'typed', '--authorized-addresses', '127.0.1.1,127.0.6.2');
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /127\.0\.1\.1 overlaps an address of the account "one"/);
    assert.equal((await pulsegate('update', 'typed', '--authorized-addresses', '')).code, 0);
    await eventually(async () => {
      const client = await RawClient.connect(port, '127.0.0.1', '127.0.6.1');
      const refused = await handshakes['socks4']?.(client);
      client.destroy();
      assert.notEqual(refused, null);
    });
  });

  describe('real clients without credentials', () => {
    let web = 0;
    before(async () => {
      const server = createServer((_, response) => response.end('hello'));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      scope.after(() => server.close());
      web = (server.address() as AddressInfo).port;
      await authorize(await daemon.addAccount('console', 'secret'), ['127.0.0.1']);
    });

    for (const [scheme, host] of [
      ['socks4', '127.0.0.1'],
      ['socks4a', 'localhost'],
      ['socks5h', 'localhost'],
      ['http', 'localhost'],
    ] as const) {
      it(`curl connects with ${scheme}`, needs('curl'), async () => {
        const args = ['-sS', '-m', '20', '-x', `${scheme}://127.0.0.1:${port}`, `http://${host}:${web}/`];
        assert.equal((await run('curl', args, { timeout: 30_000 })).stdout, 'hello');
      });
    }

    it('proxychains4 connects with SOCKS4', needs('proxychains4', 'curl'), async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'pulsegate-chains-'));
      t.after(() => rm(folder, { recursive: true }));
      const file = join(folder, 'proxychains.conf');
      await writeFile(file, `strict_chain\nproxy_dns\nquiet_mode\n[ProxyList]\nsocks4 127.0.0.1 ${port}\n`);
      const args = ['-q', '-f', file, 'curl', '-sS', '-m', '20', `http://127.0.0.1:${web}/`];
      assert.equal((await run('proxychains4', args, { timeout: 30_000 })).stdout, 'hello');
    });

    it('ncat connects with SOCKS4', needs('ncat'), async () => {
      const answering = createTcpServer((socket) => socket.end('hello'));
      await new Promise<void>((done) => answering.listen(0, '127.0.0.1', done));
      const at = String((answering.address() as AddressInfo).port);
      const args = ['--proxy', `127.0.0.1:${port}`, '--proxy-type', 'socks4', '--recv-only', '127.0.0.1', at];
      assert.equal((await run('ncat', args, { timeout: 30_000 })).stdout, 'hello');
      answering.close();
    });

    it('python3-socks connects with SOCKS4', needs(PYTHON_SOCKS), async () => {
      const program = `import socks
s = socks.socksocket()
s.settimeout(20)
s.set_proxy(socks.SOCKS4, '127.0.0.1', ${port}, rdns=True)
s.connect(('localhost', ${web}))
s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
print(s.makefile().read().split()[-1])`;
      const { stdout } = await run('/usr/bin/python3', ['-c', program], { timeout: 30_000 });
      assert.equal(stdout.trim(), 'hello');
    });
  });
});

function portBytes(port: number): [number, number] {
  return [port >> 8, port & 255];
}
