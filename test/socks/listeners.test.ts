// Several listeners at once: addresses, ports, Unix sockets.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startTestDaemon } from '../helpers/daemon.js';
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
          { host: '::1', port: 0 },
          { host: ['127.0.0.2'], port: 0 },
          { path, mode: '0600' },
          { path: `${path}2`, proxyProtocol: true },
        ],
      },
    },
  });
  await daemon.addAccount('player', 'secret');

  it('are opened beside the first one, all of them named in the ready line', async (t) => {
    const target = await startTarget(t, echo);
    const ready = daemon.lines.find((line) => line.msg === 'ready')?.['socks'] as string[];
    assert.deepEqual(
      ready.map((address) => address.replace(/:\d+$/, '')),
      ['127.0.0.1', '[::1]', '127.0.0.2', `unix:${path}`, `unix:${path}2`],
    );
    for (const [i, host] of ['127.0.0.1', '::1', '127.0.0.2'].entries()) {
      const port = Number(ready[i]?.replace(/^.*:/, ''));
      const account = { host, port, username: 'player', password: 'secret' };
      const client = await connectThrough(account, '127.0.0.1', target.port);
      client.send('ping');
      assert.equal((await client.read(4)).toString(), 'ping');
      // None of them is a destination.
      const other = await RawClient.connect(port, host);
      other.send(
        Buffer.concat([
          greeting(2),
          login('player', 'secret'),
          request('::1', Number(ready[1]?.replace(/^.*:/, ''))),
        ]),
      );
      await other.read(4);
      assert.equal((await readReply(other)).code, 2);
      client.destroy();
      other.destroy();
    }
  });

  it('may be Unix sockets, for those whom the permissions let in, with or without PROXY headers', async (t) => {
    await daemon.addAccount('local', 'secret');
    const target = await startTarget(t, echo);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(`${path}2`).mode & 0o777, 0o660);
    for (const [at, header, client] of [
      [path, '', 'unix'],
      [`${path}2`, 'PROXY TCP4 203.0.113.9 198.51.100.1 5 6\r\n', '203.0.113.9'],
    ] as const) {
      const peer = new RawClient(connect({ path: at, allowHalfOpen: true }));
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

  it('serve UDP to programs of this machine that came by a Unix socket', async (t) => {
    const echoEnd = await startUdpEcho(t);
    const control = new RawClient(connect({ path, allowHalfOpen: true }));
    const associate = request('0.0.0.0', 0, UDP_ASSOCIATE);
    control.send(Buffer.concat([greeting(2), login('player', 'secret'), associate]));
    await control.read(4);
    const { address, port } = await readReply(control);
    const end = await UdpEnd.open(t);
    end.send(datagram('127.0.0.1', echoEnd.port, 'local'), port, address);
    assert.equal(unwrap((await end.receive()).data).data.toString(), 'local');
    control.destroy();
  });

  it('replace a Unix socket that a crash left behind, and leave one in use alone', async (t) => {
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

  it('are all or none: one that cannot be opened stops the start and says which', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    t.after(() => taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    for (const [listener, message] of [
      [{ host: '127.0.0.1', port }, /socks\.listeners\[0\].*in use/],
      [{ path: '/nowhere/at/all.sock' }, /socks\.listeners\[0\].*cannot listen on \/nowhere/],
      [{ host: '127.0.0.1' }, /a host with a port, or the path/],
      [{ path: '/tmp/x', port: 1 }, /a host with a port, or the path/],
      [{ host: '127.0.0.1', port: 0, proxyProtocol: true }, /proxyProtocolFrom/],
    ] as const) {
      await assert.rejects(startTestDaemon(t, { config: { socks: { listeners: [listener] } } }), message);
    }
  });
});
