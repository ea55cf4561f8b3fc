// Upstream proxies that refuse, do not answer, disconnect, name a wrong relay or send malformed datagrams. None of it reaches clients.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { freePort } from '../../helpers/ports.js';
import { IPV6, needs } from '../../helpers/programs.js';
import { type Scope, suiteScope } from '../../helpers/suite.js';
import {
  associateThrough,
  datagram,
  startUdpEcho,
  type UdpAssociationClient,
  UdpEnd,
} from '../../helpers/udp-client.js';

/** The destination of these tests' datagrams. No host has this address. */
const DESTINATION = '192.0.2.1';
const DESTINATION_PORT = 7_000;
/** A destination whose upstream proxy cannot be reached, one whose is reached by IPv6, and one whose is the daemon itself. */
const [UNREACHABLE, BY_IPV6, BY_ITSELF] = ['192.0.2.9', '192.0.2.6', '192.0.2.5'];
const PLAYER = { username: 'player', password: 'secret' };

/** The key `socks` of the configuration. */
type Socks = Readonly<Record<string, unknown>> & { readonly upstreams?: readonly unknown[] };

interface FakeUpstream {
  readonly port: number;
  /** The UDP socket that its replies name. */
  readonly relay: UdpEnd;
  /** The connections on which a request arrived. */
  readonly controls: Socket[];
  /** The time of each request, in ms. */
  readonly requestedAt: number[];
  /** Selects the response to the next requests: a reply, nothing, or the close of the connection. */
  answer: () => Buffer | 'silence' | 'close';
}

/** A reply of RFC 1928 §6 with an IPv4 BND.ADDR. */
function reply(code: number, address: string, port: number): Buffer {
  return Buffer.from([5, code, 0, 1, ...address.split('.').map(Number), port >> 8, port & 0xff]);
}

async function startUpstream(t: TestContext, host = '127.0.0.1', port = 0): Promise<FakeUpstream> {
  const relay = await UdpEnd.open(t, host);
  const upstream: FakeUpstream & { port: number } = {
    port: 0,
    relay,
    controls: [],
    requestedAt: [],
    answer: () => reply(0, '0.0.0.0', relay.port),
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request: Buffer) => {
        assert.equal(request.toString('hex'), '05030001000000000000');
        upstream.controls.push(socket);
        upstream.requestedAt.push(performance.now());
        const answer = upstream.answer();
        if (answer === 'close') socket.destroy();
        else if (answer !== 'silence') socket.write(answer);
        socket.resume();
      });
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  t.after(() => server.close());
  upstream.port = (server.address() as AddressInfo).port;
  return upstream;
}

/** Starts a daemon that sends everything except 127.0.0.1 through the upstream proxy at `port`, or those of other hosts. */
async function startDaemonBehind(
  t: Scope,
  port: number,
  { upstreams = [], ...socks }: Socks = {},
): Promise<TestDaemon> {
  const daemon = await startTestDaemon(t, {
    config: {
      egress: { private: 'allow', deny: ['127.0.0.66'] },
      socks: {
        upstreams: [
          { match: { hosts: ['127.0.0.1'] }, proxy: null },
          { match: { hosts: ['*.upstream.test'] }, proxy: `127.0.0.1:${port}`, names: 'proxy' },
          { match: { hosts: [UNREACHABLE] }, proxy: '127.0.0.1:1' },
          ...upstreams,
          { proxy: `127.0.0.1:${port}` },
        ],
        ...socks,
      },
    },
  });
  await daemon.addAccount(PLAYER.username, PLAYER.password);
  return daemon;
}

/** Starts such a daemon for one test, and an association. */
async function startBehind(
  t: TestContext,
  upstream: FakeUpstream,
  socks: Socks = {},
): Promise<{ daemon: TestDaemon; client: UdpAssociationClient }> {
  const daemon = await startDaemonBehind(t, upstream.port, socks);
  return { daemon, client: await associateThrough(t, { port: daemon.socks.port, ...PLAYER }) };
}

/** Starts one daemon for a suite, whose upstream proxy each test replaces. */
function sharedDaemon(scope: Scope, socksOf: () => Socks | Promise<Socks>) {
  let daemon: TestDaemon;
  let upstreamPort = 0;
  let players = 0;
  const forwarder = createServer((socket) => {
    const upstreamSocket = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const [one, other] of [
      [socket, upstreamSocket],
      [upstreamSocket, socket],
    ] as const) {
      one.on('error', () => {});
      one.pipe(other);
      one.once('close', () => other.destroy());
    }
  });
  before(async () => {
    forwarder.listen(0, '127.0.0.1');
    await once(forwarder, 'listening');
    scope.after(() => forwarder.close());
    daemon = await startDaemonBehind(scope, (forwarder.address() as AddressInfo).port, await socksOf());
  });
  /** Opens an association behind `upstream` for a new player. The returned daemon has only the log lines of this player. */
  return async (t: TestContext, upstream: Pick<FakeUpstream, 'port'>) => {
    upstreamPort = upstream.port;
    players += 1;
    const player = { username: `player-${players}`, password: 'secret' };
    await daemon.addAccount(player.username, player.password);
    const client = await associateThrough(t, { port: daemon.socks.port, ...player });
    const daemonOfPlayer: TestDaemon = {
      ...daemon,
      get lines() {
        return daemon.lines.filter((line) => line['account'] === player.username);
      },
      waitForLine: (matches, timeoutMs) =>
        daemon.waitForLine((line) => line['account'] === player.username && matches(line), timeoutMs),
    };
    return { daemon: daemonOfPlayer, client };
  };
}

/** Ends the association, and returns the dropped datagrams of its log line. */
async function droppedBy(daemon: TestDaemon, client: UdpAssociationClient): Promise<unknown> {
  client.control.destroy();
  return (await daemon.waitForLine((line) => line.msg === 'session ended'))['dropped'];
}

/** An echo without the upstream proxy. After it, the daemon has processed all earlier datagrams. */
async function directEcho(t: TestContext, client: UdpAssociationClient): Promise<void> {
  const echo = await startUdpEcho(t);
  assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'alive'), 'alive');
}

function refusal(daemon: TestDaemon, reason: string) {
  return daemon.waitForLine((line) => line.msg === 'destination refused' && line['reason'] === reason);
}

let sixPort = 0;
const associateBehind = sharedDaemon(suiteScope(), async () => {
  const port = await freePort();
  sixPort = await freePort();
  return {
    port,
    // Longer than a busy machine delays an answer.
    connectTimeout: '5s',
    upstreams: [
      { match: { hosts: [BY_ITSELF] }, proxy: `127.0.0.1:${port}` },
      { match: { hosts: [BY_IPV6] }, proxy: `[::1]:${sixPort}` },
    ],
  };
});
const behindLowLimits = sharedDaemon(suiteScope(), () => ({
  udp: { fullCone: false, maxDestinations: 1, maxWaitingForUpstream: 3 },
}));

describe('an upstream proxy that relays no datagrams', () => {
  it('gets one request, and others after growing delays', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => reply(7, '0.0.0.0', 0);
    const { daemon, client } = await associateBehind(t, upstream);
    const startedAt = performance.now();
    const traffic = setInterval(() => client.send(DESTINATION, DESTINATION_PORT, 'x'), 20);
    try {
      await eventually(() => assert.ok(upstream.requestedAt.length >= 3));
    } finally {
      clearInterval(traffic);
    }
    await directEcho(t, client);
    const [, second = 0, third = 0] = upstream.requestedAt.map((at) => at - startedAt);
    // The delays are one and two seconds, less the age of the time that an event loop keeps. On a busy machine requests come later.
    assert.ok(second >= 500, `${second} ms`);
    assert.ok(third >= 2_500, `${third} ms`);
    const dropped = (await droppedBy(daemon, client)) as Record<string, number>;
    assert.deepEqual(Object.keys(dropped), ['upstream-reply-7']);
    const lines = daemon.lines.filter((line) => line.msg === 'destination refused');
    assert.equal(lines.length, 1, 'one line, whatever the number of datagrams');
    assert.equal(lines[0]?.['destination'], `${DESTINATION}:${DESTINATION_PORT}`);
  });

  for (const [failure, answer, reason] of [
    ['does not answer', 'silence', 'upstream-timeout'],
    ['closes the connection', 'close', 'upstream-closed'],
    ['speaks another protocol', Buffer.from('HTTP/1.1 400'), 'upstream-protocol'],
    ['stops in the middle of its reply', reply(0, '127.0.0.1', 9).subarray(0, 7), 'upstream-timeout'],
    ['has its relay at port 0', reply(0, '0.0.0.0', 0), 'upstream-relay'],
    ['has its relay at a multicast address', reply(0, '224.0.0.1', 9), 'upstream-relay'],
    ['has its relay at a metadata service', reply(0, '169.254.169.254', 53), 'upstream-relay'],
  ] as const) {
    it(`makes the daemon drop the queued datagrams when it ${failure}`, async (t) => {
      const upstream = await startUpstream(t);
      upstream.answer = () => answer;
      const { daemon, client } = await associateBehind(t, upstream);
      for (let i = 0; i < 3; i += 1) client.send(DESTINATION, DESTINATION_PORT, 'x');
      await refusal(daemon, reason);
      await directEcho(t, client);
      assert.deepEqual(await droppedBy(daemon, client), { [reason]: 3 });
      await eventually(() => assert.ok(upstream.controls.every((control) => control.destroyed)));
    });
  }

  it('may be unreachable', async (t) => {
    const { daemon, client } = await associateBehind(t, await startUpstream(t));
    client.send(UNREACHABLE, DESTINATION_PORT, 'x');
    await refusal(daemon, 'upstream-ECONNREFUSED');
    assert.deepEqual(await droppedBy(daemon, client), { 'upstream-ECONNREFUSED': 1 });
  });

  it("may not have its relay at a port of the daemon's own associations", async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await associateBehind(t, upstream);
    upstream.answer = () => reply(0, '127.0.0.1', client.relay.port);
    client.send(DESTINATION, DESTINATION_PORT, datagram(DESTINATION, DESTINATION_PORT, 'loop'));
    await refusal(daemon, 'upstream-relay');
    assert.deepEqual(await droppedBy(daemon, client), { 'upstream-relay': 1 });
  });

  it('may not be the daemon itself', async (t) => {
    const { daemon, client } = await associateBehind(t, await startUpstream(t));
    client.send(BY_ITSELF, DESTINATION_PORT, 'x');
    await refusal(daemon, 'upstream-is-this-proxy');
    await directEcho(t, client);
    assert.deepEqual(await droppedBy(daemon, client), { 'upstream-is-this-proxy': 1 });
  });

  it('gets no request at the limit of connections', async (t) => {
    const upstream = await startUpstream(t);
    // The limit is used up by the client's connection and its association.
    const { daemon, client } = await startBehind(t, upstream, { maxConnections: 2 });
    client.send(DESTINATION, DESTINATION_PORT, 'x');
    await refusal(daemon, 'max-connections');
    await directEcho(t, client);
    assert.deepEqual(await droppedBy(daemon, client), { 'max-connections': 1 });
    assert.equal(upstream.controls.length, 0);
  });

  it('is disconnected when no port of portRange is free for its datagrams', async (t) => {
    const upstream = await startUpstream(t);
    const free = await UdpEnd.open(t, '0.0.0.0');
    const { port } = free;
    free.close();
    const { daemon, client } = await startBehind(t, upstream, { udp: { portRange: `${port}-${port}` } });
    client.send(DESTINATION, DESTINATION_PORT, 'x');
    await refusal(daemon, 'no-port');
    assert.deepEqual(await droppedBy(daemon, client), { 'no-port': 1 });
    await eventually(() => assert.ok(upstream.controls[0]?.destroyed));
  });

  it('has a queue of at most maxWaitingForUpstream datagrams', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => 'silence';
    const { daemon, client } = await behindLowLimits(t, upstream);
    for (let i = 1; i <= 5; i += 1) client.send(DESTINATION, DESTINATION_PORT, `${i}`);
    await refusal(daemon, 'waiting');
    await eventually(() => assert.equal(upstream.controls.length, 1));
    await directEcho(t, client);
    upstream.controls[0]?.write(reply(0, '0.0.0.0', upstream.relay.port));
    for (let i = 1; i <= 3; i += 1) {
      assert.deepEqual(
        (await upstream.relay.receive()).data,
        datagram(DESTINATION, DESTINATION_PORT, `${i}`),
      );
    }
    client.send(DESTINATION, DESTINATION_PORT, 'later');
    assert.deepEqual((await upstream.relay.receive()).data, datagram(DESTINATION, DESTINATION_PORT, 'later'));
    assert.deepEqual(await droppedBy(daemon, client), { waiting: 2 });
  });

  it('has a queue of 32 datagrams by default', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => 'silence';
    const { daemon, client } = await associateBehind(t, upstream);
    for (let i = 0; i < 33; i += 1) client.send(DESTINATION, DESTINATION_PORT, 'x');
    await refusal(daemon, 'upstream-timeout');
    await directEcho(t, client);
    assert.deepEqual(await droppedBy(daemon, client), { waiting: 1, 'upstream-timeout': 32 });
  });

  it('is disconnected when the association ends first', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => 'silence';
    const { daemon, client } = await behindLowLimits(t, upstream);
    client.send(DESTINATION, DESTINATION_PORT, 'x');
    await eventually(() => assert.equal(upstream.controls.length, 1));
    client.control.destroy();
    await daemon.waitForLine((line) => line.msg === 'session ended');
    // The connection is closed long before its timeout.
    await eventually(() => assert.ok(upstream.controls[0]?.destroyed));
  });
});

describe('an upstream proxy that relays datagrams', () => {
  for (const [address, bound] of [
    ['0.0.0.0', (port: number) => reply(0, '0.0.0.0', port)],
    ['its address', (port: number) => reply(0, '127.0.0.1', port)],
    ['::', (port: number) => Buffer.from([5, 0, 0, 4, ...Buffer.alloc(16), port >> 8, port & 255])],
    ['a name', (port: number) => Buffer.from([5, 0, 0, 3, 1, 0x61, port >> 8, port & 255])],
  ] as const) {
    it(`may name ${address} as the address of its relay`, async (t) => {
      const upstream = await startUpstream(t);
      upstream.answer = () => bound(upstream.relay.port);
      const { client } = await associateBehind(t, upstream);
      client.send(DESTINATION, DESTINATION_PORT, 'there');
      const { data, from } = await upstream.relay.receive();
      assert.deepEqual(data, datagram(DESTINATION, DESTINATION_PORT, 'there'));
      upstream.relay.send(datagram(DESTINATION, DESTINATION_PORT, 'and back'), from.port, from.address);
      const answer = await client.receive();
      assert.deepEqual(
        [answer.host, answer.port, answer.data.toString()],
        [DESTINATION, DESTINATION_PORT, 'and back'],
      );
    });
  }

  it('may have its relay at another address', async (t) => {
    const upstream = await startUpstream(t);
    const relay = await UdpEnd.open(t, '127.0.0.9');
    upstream.answer = () => reply(0, '127.0.0.9', relay.port);
    const { client } = await associateBehind(t, upstream);
    client.send(DESTINATION, DESTINATION_PORT, 'there');
    const { data, from } = await relay.receive();
    assert.deepEqual(data, datagram(DESTINATION, DESTINATION_PORT, 'there'));
    // This datagram has the right port and a wrong address.
    upstream.relay.send(
      datagram(DESTINATION, DESTINATION_PORT, 'from another address'),
      from.port,
      from.address,
    );
    relay.send(datagram(DESTINATION, DESTINATION_PORT, 'and back'), from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'and back');
  });

  it('may be reached by IPv6', needs(IPV6), async (t) => {
    const upstream = await startUpstream(t, '::1', sixPort);
    const { client } = await associateBehind(t, upstream);
    client.send(BY_IPV6, DESTINATION_PORT, 'there');
    const { data, from } = await upstream.relay.receive();
    assert.deepEqual([data, from.address], [datagram(BY_IPV6, DESTINATION_PORT, 'there'), '::1']);
    upstream.relay.send(
      datagram('2001:db8::7', DESTINATION_PORT, 'from another host'),
      from.port,
      from.address,
    );
    const answer = await client.receive();
    assert.deepEqual([answer.host.slice(0, 8), answer.data.toString()], ['20010db8', 'from another host']);
  });

  it('gets names unresolved', async (t) => {
    const upstream = await startUpstream(t);
    const { client } = await associateBehind(t, upstream);
    client.send(Buffer.from('GAME.upstream.test'), DESTINATION_PORT, 'x');
    const { data, from } = await upstream.relay.receive();
    assert.deepEqual(data, datagram(Buffer.from('game.upstream.test'), DESTINATION_PORT, 'x'));
    // The upstream proxy has resolved the name.
    upstream.relay.send(datagram('10.0.0.7', DESTINATION_PORT, 'answer'), from.port, from.address);
    const answer = await client.receive();
    assert.deepEqual(
      [answer.host, answer.port, answer.data.toString()],
      ['10.0.0.7', DESTINATION_PORT, 'answer'],
    );
  });

  it('may send malformed datagrams, which are dropped and counted', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await associateBehind(t, upstream);
    client.send(DESTINATION, DESTINATION_PORT, 'x');
    const { from } = await upstream.relay.receive();
    const good = datagram(DESTINATION, DESTINATION_PORT, 'good');
    const malformed = [
      Buffer.alloc(0),
      Buffer.from('no header'),
      good.subarray(0, 9),
      Buffer.concat([Buffer.from([0, 1]), good.subarray(2)]),
      Buffer.concat([Buffer.from([0, 0, 0, 9]), good.subarray(4)]),
      datagram(DESTINATION, 0, 'port 0'),
      datagram(Buffer.alloc(0), DESTINATION_PORT, 'no name'),
      Buffer.alloc(60_000, 0xff),
    ];
    for (const bytes of malformed) upstream.relay.send(bytes, from.port, from.address);
    upstream.relay.send(datagram(DESTINATION, DESTINATION_PORT, 'first of two', 1), from.port, from.address);
    upstream.relay.send(
      datagram(DESTINATION, DESTINATION_PORT, 'second of two', 2 | 0x80),
      from.port,
      from.address,
    );
    const unsolicited = [
      datagram(Buffer.from('unknown.test'), DESTINATION_PORT, 'x'),
      datagram('127.0.0.66', DESTINATION_PORT, 'denied'),
      datagram('224.0.0.1', DESTINATION_PORT, 'a group'),
    ];
    for (const bytes of unsolicited) upstream.relay.send(bytes, from.port, from.address);
    const other = await UdpEnd.open(t);
    other.send(good, from.port, from.address);
    // Data on the TCP connection is ignored.
    upstream.controls[0]?.write('unexpected');
    // The kernel does not order datagrams of two senders, so the last one is sent after a pause.
    await pause(50);
    upstream.relay.send(good, from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'good');
    await directEcho(t, client);
    assert.equal(client.end.unread, 0);
    assert.deepEqual(await droppedBy(daemon, client), {
      'upstream-malformed': malformed.length,
      'upstream-fragment': 2,
      unsolicited: unsolicited.length + 1,
    });
  });

  it('can send only from addresses that the client has sent to, with fullCone false', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await behindLowLimits(t, upstream);
    client.send(DESTINATION, DESTINATION_PORT, 'x');
    const { from } = await upstream.relay.receive();
    const sendFrom = (host: string, port: number, data: string): void =>
      upstream.relay.send(datagram(host, port, data), from.port, from.address);
    sendFrom('192.0.2.2', DESTINATION_PORT, 'from another host');
    sendFrom(DESTINATION, DESTINATION_PORT + 1, 'from another port');
    sendFrom(`::ffff:c000:201`, DESTINATION_PORT, 'mapped');
    for (const expected of ['from another port', 'mapped']) {
      const received = await client.receive();
      assert.deepEqual([received.host, received.data.toString()], [DESTINATION, expected]);
    }
    assert.deepEqual(await droppedBy(daemon, client), { unsolicited: 1 });
  });

  it('cannot send from the destination that was unused for longest, beyond maxDestinations', async (t) => {
    const upstream = await startUpstream(t);
    const { client } = await behindLowLimits(t, upstream);
    client.send(DESTINATION, DESTINATION_PORT, 'one');
    await upstream.relay.receive();
    client.send('192.0.2.2', DESTINATION_PORT, 'two');
    const { from } = await upstream.relay.receive();
    upstream.relay.send(datagram(DESTINATION, DESTINATION_PORT, 'forgotten'), from.port, from.address);
    upstream.relay.send(datagram('192.0.2.2', DESTINATION_PORT, 'remembered'), from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'remembered');
  });

  it('may end its association: the next datagram makes the daemon request another', async (t) => {
    const upstream = await startUpstream(t);
    // The limits permit one queued datagram and one connection to an upstream proxy, so both must be released.
    const limits = { maxConnections: 3, udp: { maxWaitingForUpstream: 1 } };
    const { daemon, client } = await startBehind(t, upstream, limits);
    client.send(DESTINATION, DESTINATION_PORT, 'one');
    const old = (await upstream.relay.receive()).from;
    // After a second, the daemon may request another association at once.
    await pause(1_100 - (performance.now() - (upstream.requestedAt[0] ?? 0)));
    upstream.controls[0]?.end();
    await once(upstream.controls[0] ?? assert.fail(), 'close');
    client.send(DESTINATION, DESTINATION_PORT, 'two');
    const { data, from } = await upstream.relay.receive();
    assert.deepEqual(data, datagram(DESTINATION, DESTINATION_PORT, 'two'));
    assert.notEqual(from.port, old.port);
    upstream.relay.send(datagram(DESTINATION, DESTINATION_PORT, 'back'), from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'back');
    // This association ends too soon for another request.
    upstream.controls[1]?.resetAndDestroy();
    await eventually(async () => {
      client.send(DESTINATION, DESTINATION_PORT, 'x');
      assert.ok(daemon.lines.some((line) => line['reason'] === 'upstream-closed'));
    });
    assert.equal(upstream.controls.length, 2);
    await directEcho(t, client);
  });

  it('does not keep an association without datagrams alive', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await startBehind(t, upstream, { udp: { idleTimeout: '4s' } });
    client.send(DESTINATION, DESTINATION_PORT, 'x');
    await upstream.relay.receive();
    await client.control.closed();
    const line = await daemon.waitForLine((each) => each.msg === 'session ended');
    assert.equal(line['end'], 'idle-timeout');
    await eventually(() => assert.ok(upstream.controls[0]?.destroyed));
  });
});
