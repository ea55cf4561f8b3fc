// Several listeners at once: addresses, ports, Unix sockets.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon, yamlOf } from '../helpers/daemon.js';
import { has, IPV6, needsFor } from '../helpers/programs.js';
import { connectThrough, greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { type Scope, suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { datagram, startUdpEcho, UDP_ASSOCIATE, UdpEnd, unwrap } from '../helpers/udp-client.js';

async function folder(t: Scope): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pulsegate-socket-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe('listeners', async () => {
  const scope = suiteScope();
  const path = join(await folder(scope), 'socks.sock');
  const daemon = await startTestDaemon(scope, {
    config: {
      socks: {
        proxyProtocolFrom: ['unix'],
        listeners: [
          { host: ['127.0.0.2'], port: 0 },
          { path, mode: '0600' },
          { path: `${path}2`, proxyProtocol: true },
          ...(has(IPV6) ? [{ host: '::1', port: 0 }] : []),
        ],
      },
    },
  });
  await daemon.addAccount('player', 'secret');
  const ready = daemon.lines.find((line) => line.msg === 'ready')?.['socks'] as string[];

  /** On a port that no listener has at another address: destinations on such a port of this machine are refused. */
  async function startOther(t: Scope) {
    for (;;) {
      const target = await startTarget(t, echo);
      if (!ready.some((address) => address.endsWith(`:${target.port}`))) return target;
    }
  }

  it('can be several, and the ready line names all', () => {
    assert.deepEqual(
      ready.map((address) => address.replace(/:\d+$/, '')),
      ['127.0.0.1', '127.0.0.2', `unix:${path}`, `unix:${path}2`, ...(has(IPV6) ? ['[::1]'] : [])],
    );
  });

  for (const [listener, host] of [
    [0, '127.0.0.1'],
    [1, '127.0.0.2'],
    [4, '::1'],
  ] as const) {
    it(`serve players at ${host}, and cannot be reached as a destination`, needsFor(host), async (t) => {
      const target = await startOther(t);
      const port = Number(ready[listener]?.replace(/^.*:/, ''));
      const account = { host, port, username: 'player', password: 'secret' };
      const client = await connectThrough(account, '127.0.0.1', target.port);
      client.send('ping');
      assert.equal((await client.read(4)).toString(), 'ping');
      const other = await RawClient.connect(port, host);
      other.send(Buffer.concat([greeting(2), login('player', 'secret'), request(host, port)]));
      await other.read(4);
      assert.equal((await readReply(other)).code, 2);
      client.destroy();
      other.destroy();
    });
  }

  it('can be Unix sockets with permissions, with or without PROXY headers', async (t) => {
    await daemon.addAccount('local', 'secret');
    const target = await startOther(t);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(`${path}2`).mode & 0o777, 0o660);
    for (const [socketPath, header, client] of [
      [path, '', 'unix'],
      [`${path}2`, 'PROXY TCP4 203.0.113.9 198.51.100.1 5 6\r\n', '203.0.113.9'],
    ] as const) {
      const peer = new RawClient(connect({ path: socketPath, allowHalfOpen: true }));
      const handshake = [greeting(2), login('local', 'secret'), request('127.0.0.1', target.port)];
      peer.send(Buffer.concat([Buffer.from(header), ...handshake]));
      await peer.read(4);
      assert.equal((await readReply(peer)).code, 0);
      peer.send('ping');
      assert.equal((await peer.read(4)).toString(), 'ping');
      peer.socket.end();
      await daemon.waitForLine(
        (line) => line.msg === 'session ended' && line['account'] === 'local' && line['client'] === client,
      );
    }
  });

  it('serve UDP to local programs that are connected by a Unix socket', async (t) => {
    const echoEnd = await startUdpEcho(t);
    const control = new RawClient(connect({ path, allowHalfOpen: true }));
    const associate = request('0.0.0.0', 0, UDP_ASSOCIATE);
    control.send(Buffer.concat([greeting(2), login('player', 'secret'), associate]));
    await control.read(4);
    const { address, port } = await readReply(control);
    const udp = await UdpEnd.open(t);
    udp.send(datagram('127.0.0.1', echoEnd.port, 'local'), port, address);
    assert.equal(unwrap((await udp.receive()).data).data.toString(), 'local');
    control.destroy();
  });

  it('replace the Unix socket of a crashed daemon, but not one in use', async (t) => {
    const path = join(await folder(t), 'socks.sock');
    const config = { socks: { listeners: [{ path }] } };
    const first = await startTestDaemon(t, { config });
    await assert.rejects(startTestDaemon(t, { config }), /socks\.listeners\[0\].*in use by another program/);
    first.signal('SIGKILL');
    await first.exited();
    assert.ok(statSync(path).isSocket());
    const second = await startTestDaemon(t, { config });
    second.signal('SIGTERM');
    await second.exited();
    assert.throws(() => statSync(path), { code: 'ENOENT' });
  });

  it('stop the start when one of them cannot be opened, and the error names it', async (t) => {
    const occupied = createServer().listen(0, '127.0.0.1');
    t.after(() => occupied.close());
    await new Promise((resolve) => occupied.once('listening', resolve));
    const address = occupied.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    for (const [listener, message] of [
      [{ host: '127.0.0.1', port }, /socks\.listeners\[0\].*in use/],
      [{ path: '/nowhere/at/all.sock' }, /socks\.listeners\[0\].*cannot listen on \/nowhere/],
    ] as const) {
      await assert.rejects(startTestDaemon(t, { config: { socks: { listeners: [listener] } } }), message);
    }
  });

  it('that no daemon can have are found by the check of the configuration', async (t) => {
    const directory = await folder(t);
    const file = join(directory, 'pulsegate.yaml');
    for (const [listener, message] of [
      [{ host: '127.0.0.1' }, /a host with a port, or the path/],
      [{ path: '/tmp/x', port: 1 }, /a host with a port, or the path/],
      [{ host: '127.0.0.1', port: 0, proxyProtocol: true }, /proxyProtocolFrom/],
    ] as const) {
      await writeFile(file, yamlOf({ dataDir: directory, socks: { listeners: [listener] } }));
      const { code, stderr } = await runCommand(directory, ['config', 'check', '--config', file]);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    }
  });
});
