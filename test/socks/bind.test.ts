// BIND through the running daemon: one incoming connection from the host that the client names.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startNameServer } from '../helpers/name-server.js';
import { freePort } from '../helpers/ports.js';
import { needsFor } from '../helpers/programs.js';
import { loggedInClient, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { UDP_ASSOCIATE } from '../helpers/udp-client.js';

const BIND = 2; // RFC 1928 §4
const account = { port: 0, username: 'player', password: 'secret' };

/** Sends a BIND for a peer at `host` and returns the client with its first reply. */
async function bindFor(host: string | Buffer, at = account) {
  const client = await loggedInClient(at);
  client.send(request(host, 2_000, BIND));
  return { client, first: await readReply(client) };
}

/** Returns whether a socket listens on a port of this machine. */
async function isOpen(port: number): Promise<boolean> {
  const client = connect({ port, host: '127.0.0.1' });
  return new Promise((resolve) => {
    client.once('connect', () => {
      client.destroy();
      resolve(true);
    });
    client.once('error', () => resolve(false));
  });
}

describe('BIND', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    const names = await startNameServer(scope, (name, family) => {
      if (name === 'peer.test') return family === 4 ? ['127.0.0.5'] : [];
      return undefined;
    });
    daemon = await startTestDaemon(scope, {
      config: {
        dns: { servers: [names.address] },
        egress: { private: 'allow', deny: ['127.0.0.66'] },
        socks: { bind: { enabled: true, timeout: '8s' } },
      },
    });
    await daemon.addAccount('player', 'secret');
    account.port = daemon.socks.port;
  });

  for (const [peerKind, host, from, to] of [
    ['an IPv4 host', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['an IPv6 host', '::1', '::1', '::1'],
    ['a name', Buffer.from('peer.test'), '127.0.0.5', '127.0.0.1'],
    ['any host', '0.0.0.0', '127.0.0.9', '127.0.0.1'],
  ] as const) {
    it(`accepts one connection from ${peerKind}, replies twice, and relays`, needsFor(to), async () => {
      const { client, first } = await bindFor(host);
      assert.equal(first.code, 0);
      assert.notEqual(first.port, 0);
      if (peerKind === 'an IPv4 host') assert.equal(first.address, '127.0.0.1');
      client.send('sent early');
      const peer = await RawClient.connect(first.port, to, from);
      const second = await readReply(client);
      assert.deepEqual([second.code, second.port], [0, peer.socket.localPort]);
      if (second.atyp === 1) assert.equal(second.address, from);
      assert.equal((await peer.read(10)).toString(), 'sent early');
      peer.send('hello');
      assert.equal((await client.read(5)).toString(), 'hello');
      assert.equal(await isOpen(first.port), false, 'one connection only');
      const before = daemon.lines.length;
      peer.socket.end();
      client.socket.end();
      await client.closed();
      const line = await daemon.waitForLine(
        (each) => each.msg === 'session ended' && daemon.lines.indexOf(each) >= before,
      );
      assert.deepEqual([line['bytesUp'], line['bytesDown']], [10, 5]);
    });
  }

  it('refuses other hosts and continues waiting', async () => {
    const { client, first } = await bindFor('127.0.0.1');
    for (let i = 0; i < 3; i += 1) {
      const wrong = await RawClient.connect(first.port, '127.0.0.1', '127.0.0.7');
      await wrong.closed();
    }
    const peer = await RawClient.connect(first.port);
    const second = await readReply(client);
    assert.deepEqual([second.code, second.address], [0, '127.0.0.1']);
    peer.destroy();
    await client.closed();
  });

  it('accepts no peer that the egress rules deny', async () => {
    const named = await bindFor('127.0.0.66');
    assert.equal(named.first.code, 2);
    const anyHost = await bindFor('0.0.0.0');
    const wrong = await RawClient.connect(anyHost.first.port, '127.0.0.1', '127.0.0.66');
    await wrong.closed();
    anyHost.client.destroy();
  });

  it('fails after its timeout with a second reply', async () => {
    const { client, first } = await bindFor('127.0.0.1');
    assert.equal((await readReply(client)).code, 6);
    await client.closed();
    assert.equal(await isOpen(first.port), false);
  });

  it('stops waiting when its client disconnects', async () => {
    for (const disconnect of ['end', 'destroy'] as const) {
      const { client, first } = await bindFor('127.0.0.1');
      client.socket[disconnect]();
      await client.closed();
      await eventually(async () => assert.equal(await isOpen(first.port), false, disconnect));
    }
  });

  it('keeps 64 KiB for the peer; a client that sends more before the peer connects is refused', async () => {
    const early = Buffer.alloc(64 * 1024, 'x');
    const { client, first } = await bindFor('127.0.0.1');
    client.send(early);
    // The bytes that the peer gets show that the daemon had read them.
    const peer = await RawClient.connect(first.port);
    assert.equal((await readReply(client)).code, 0);
    assert.ok((await peer.read(early.length)).equals(early));
    peer.destroy();
    await client.closed();

    const greedy = await bindFor('127.0.0.1');
    greedy.client.send(Buffer.concat([early, Buffer.from('x')]));
    assert.equal((await readReply(greedy.client)).code, 1);
    await greedy.client.closed();
    assert.equal(await isOpen(greedy.first.port), false);
    await daemon.waitForLine((line) => line['reason'] === 'too-much-before-peer');
  });

  it('stops waiting when its account is removed', async () => {
    const id = await daemon.addAccount('leaving', 'secret');
    const { client, first } = await bindFor('127.0.0.1', { ...account, username: 'leaving' });
    assert.equal(first.code, 0);
    await daemon.api('POST', `/ProxyAccount/DeleteProxyAccount?AID=${id}`);
    await client.closed();
    assert.equal(await isOpen(first.port), false);
  });

  it('does not let players connect to the port on which it waits', async () => {
    const { client, first } = await bindFor('127.0.0.1');
    const other = await loggedInClient(account);
    other.send(request('127.0.0.1', first.port));
    assert.equal((await readReply(other)).code, 2);
    client.destroy();
  });

  it('is refused with 04 for a name that does not exist', async () => {
    assert.equal((await bindFor(Buffer.from('nobody.test'))).first.code, 4);
  });
});

describe('BIND in the configuration', () => {
  it('is off by default, and is then refused with 07, as UDP ASSOCIATE is where that is off', async (t) => {
    const daemon = await startTestDaemon(t, { config: { socks: { udp: { enabled: false } } } });
    await daemon.addAccount('player', 'secret');
    const at = { ...account, port: daemon.socks.port };
    const { client, first } = await bindFor('127.0.0.1', at);
    assert.equal(first.code, 7);
    await client.closed();
    const associating = await loggedInClient(at);
    associating.send(request('0.0.0.0', 0, UDP_ASSOCIATE));
    assert.equal((await readReply(associating)).code, 7);
    await associating.closed();
  });

  it('can have a port range and a public address, which the reply contains', async (t) => {
    const port = await freePort();
    const bind = { enabled: true, portRange: `${port}-${port}`, publicAddress: '203.0.113.7' };
    const daemon = await startTestDaemon(t, { config: { socks: { bind } } });
    await daemon.addAccount('player', 'secret');
    const at = { ...account, port: daemon.socks.port };
    const { client, first } = await bindFor('127.0.0.1', at);
    assert.deepEqual([first.code, first.address, first.port], [0, '203.0.113.7', port]);
    assert.equal((await bindFor('127.0.0.1', at)).first.code, 1, 'no port of the range is free');
    client.destroy();
  });
});
