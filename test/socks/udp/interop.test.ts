// UDP ASSOCIATE and BIND with clients of other authors.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { SocksClient } from 'socks';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { needs, PYTHON_SOCKS } from '../../helpers/programs.js';
import { suiteScope } from '../../helpers/suite.js';
import { startUdpEcho, UdpEnd } from '../../helpers/udp-client.js';

const PLAYER = { username: 'player', password: 'p4ss-w.rd_~' };

const PYSOCKS = `
import socks, socket, sys
host, port, echo = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
s = socks.socksocket(socket.AF_INET, socket.SOCK_DGRAM)
s.set_proxy(socks.SOCKS5, host, port, True, sys.argv[4], sys.argv[5])
s.settimeout(10)
for target in ('127.0.0.1', 'localhost'):
    s.sendto(b'from python to ' + target.encode(), (target, echo))
    data, source = s.recvfrom(2048)
    print(data.decode(), source[0], source[1] == echo)
`;

describe('real clients of UDP ASSOCIATE and BIND', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    daemon = await startTestDaemon(scope, { config: { socks: { bind: { enabled: true } } } });
    await daemon.addAccount(PLAYER.username, PLAYER.password);
  });
  const proxy = () => ({
    host: '127.0.0.1',
    port: daemon.socks.port,
    type: 5 as const,
    userId: PLAYER.username,
    password: PLAYER.password,
  });

  it('PySocks sends and receives datagrams', needs(PYTHON_SOCKS), async (t) => {
    const echo = await startUdpEcho(t);
    const { username, password } = PLAYER;
    const args = [
      '-c',
      PYSOCKS,
      '127.0.0.1',
      String(daemon.socks.port),
      String(echo.port),
      username,
      password,
    ];
    const { stdout } = await promisify(execFile)('/usr/bin/python3', args, { timeout: 30_000 });
    assert.equal(
      stdout,
      'from python to 127.0.0.1 127.0.0.1 True\nfrom python to localhost 127.0.0.1 True\n',
    );
  });

  it('the npm package socks sends and receives datagrams', async (t) => {
    const echo = await startUdpEcho(t);
    const client = new SocksClient({
      proxy: proxy(),
      command: 'associate',
      destination: { host: '0.0.0.0', port: 0 },
    });
    const relay = await new Promise<{ host: string; port: number }>((resolve, reject) => {
      client.once('established', ({ socket, remoteHost }) => {
        t.after(() => socket.destroy());
        if (remoteHost) resolve({ host: String(remoteHost.host), port: remoteHost.port });
      });
      client.once('error', reject);
      client.connect();
    });
    const udp = await UdpEnd.open(t);
    const frame = SocksClient.createUDPFrame({
      remoteHost: { host: '127.0.0.1', port: echo.port },
      data: Buffer.from('from npm'),
    });
    udp.send(frame, relay.port, relay.host);
    const answer = SocksClient.parseUDPFrame((await udp.receive()).data);
    assert.equal(answer.data.toString(), 'from npm');
    assert.deepEqual([answer.remoteHost.host, answer.remoteHost.port], ['127.0.0.1', echo.port]);
  });

  it('the npm package socks accepts a connection by BIND', async (t) => {
    const client = new SocksClient({
      proxy: proxy(),
      command: 'bind',
      destination: { host: '127.0.0.1', port: 1 },
    });
    const text = await new Promise<string>((resolve, reject) => {
      client.once('error', reject);
      client.once('bound', ({ remoteHost }) => {
        const peer = connect({ host: '127.0.0.1', port: remoteHost?.port ?? 0 });
        t.after(() => peer.destroy());
        peer.write('from a peer');
      });
      client.once('established', ({ socket }) => {
        t.after(() => socket.destroy());
        socket.once('data', (data: Buffer) => resolve(data.toString()));
        socket.resume();
      });
      client.connect();
    });
    assert.equal(text, 'from a peer');
  });
});
