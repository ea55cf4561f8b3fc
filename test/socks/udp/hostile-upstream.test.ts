// Upstream proxies that refuse, stay silent, go away, point elsewhere or send garbage: nothing of it reaches the client.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { type Scope, suiteScope } from '../../helpers/suite.js';
import {
  associateThrough,
  datagram,
  startUdpEcho,
  type UdpAssociationClient,
  UdpEnd,
} from '../../helpers/udp-client.js';

/** Where the datagrams of these tests go; nobody has to be there. */
const FAR = '192.0.2.1';
const FAR_PORT = 7_000;
/** Where datagrams go through an upstream proxy that nobody can reach. */
const NOWHERE = '192.0.2.9';
const PLAYER = { username: 'player', password: 'secret' };

interface FakeUpstream {
  readonly port: number;
  /** Where it takes datagrams, when its reply says so. */
  readonly relay: UdpEnd;
  /** Connections so far, each with a request made. */
  readonly controls: Socket[];
  /** When each request came, in ms. */
  readonly askedAt: number[];
  /** How it answers requests from now on: a reply, nothing, or by closing. */
  answer: () => Buffer | 'silence' | 'close';
}

/** A reply of RFC 1928 §6 with an IPv4 BND.ADDR. */
function reply(code: number, address: string, port: number): Buffer {
  return Buffer.from([5, code, 0, 1, ...address.split('.').map(Number), port >> 8, port & 0xff]);
}

async function startUpstream(t: TestContext, host = '127.0.0.1'): Promise<FakeUpstream> {
  const relay = await UdpEnd.open(t, host);
  const upstream: FakeUpstream & { port: number } = {
    port: 0,
    relay,
    controls: [],
    askedAt: [],
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
        upstream.askedAt.push(performance.now());
        const answer = upstream.answer();
        if (answer === 'close') socket.destroy();
        else if (answer !== 'silence') socket.write(answer);
        socket.resume();
      });
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => server.close());
  upstream.port = (server.address() as AddressInfo).port;
  return upstream;
}

/** A daemon that sends everything but 127.0.0.1 through the upstream proxy at `port`. */
async function startDaemonBehind(
  t: Scope,
  port: number,
  socks: Readonly<Record<string, unknown>> = {},
): Promise<TestDaemon> {
  const daemon = await startTestDaemon(t, {
    config: {
      egress: { private: 'allow', deny: ['127.0.0.66'] },
      socks: {
        upstreams: [
          { match: { hosts: ['127.0.0.1'] }, proxy: null },
          { match: { hosts: ['*.there.test'] }, proxy: `127.0.0.1:${port}`, names: 'proxy' },
          { match: { hosts: [NOWHERE] }, proxy: '127.0.0.1:1' },
          { proxy: `127.0.0.1:${port}` },
        ],
        ...socks,
      },
    },
  });
  await daemon.addAccount(PLAYER.username, PLAYER.password);
  return daemon;
}

/** Such a daemon of the test's own, and an association of its player. */
async function startBehind(
  t: TestContext,
  upstream: Pick<FakeUpstream, 'port'>,
  socks: Readonly<Record<string, unknown>> = {},
): Promise<{ daemon: TestDaemon; client: UdpAssociationClient }> {
  const daemon = await startDaemonBehind(t, upstream.port, socks);
  return { daemon, client: await associateThrough(t, { port: daemon.socks.port, ...PLAYER }) };
}

/** One daemon for the tests of a suite: what its upstream proxy is differs from test to test. */
function sharedDaemon(scope: Scope, socks: Readonly<Record<string, unknown>> = {}) {
  let daemon: TestDaemon;
  let upstreamPort = 0;
  let players = 0;
  const entrance = createServer((socket) => {
    const onward = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => {});
      one.pipe(other);
      one.once('close', () => other.destroy());
    }
  });
  before(async () => {
    entrance.listen(0, '127.0.0.1');
    await once(entrance, 'listening');
    scope.after(() => entrance.close());
    daemon = await startDaemonBehind(scope, (entrance.address() as AddressInfo).port, socks);
  });
  /** An association behind `upstream` of a player of its own; of the log, what concerns this player. */
  return async (t: TestContext, upstream: FakeUpstream) => {
    upstreamPort = upstream.port;
    players += 1;
    const player = { username: `player-${players}`, password: 'secret' };
    await daemon.addAccount(player.username, player.password);
    const client = await associateThrough(t, { port: daemon.socks.port, ...player });
    const own: TestDaemon = {
      ...daemon,
      get lines() {
        return daemon.lines.filter((line) => line['account'] === player.username);
      },
      waitForLine: (matches, timeoutMs) =>
        daemon.waitForLine((line) => line['account'] === player.username && matches(line), timeoutMs),
    };
    return { daemon: own, client };
  };
}

/** Ends the association, and returns what its log line says was dropped. */
async function droppedBy(daemon: TestDaemon, client: UdpAssociationClient): Promise<unknown> {
  client.control.destroy();
  return (await daemon.waitForLine((line) => line.msg === 'session ended'))['dropped'];
}

/** Whatever was sent before has been looked at when this comes back: it goes past the upstream proxy. */
async function directEcho(t: TestContext, client: UdpAssociationClient): Promise<void> {
  const echo = await startUdpEcho(t);
  assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'alive'), 'alive');
}

function refusal(daemon: TestDaemon, reason: string) {
  return daemon.waitForLine((line) => line.msg === 'destination refused' && line['reason'] === reason);
}

const behind = sharedDaemon(suiteScope());
const behindStrict = sharedDaemon(suiteScope(), {
  udp: { fullCone: false, maxDestinations: 1, maxWaitingForUpstream: 3 },
});

describe('an upstream proxy that does not let datagrams through', () => {
  const behindImpatient = sharedDaemon(suiteScope(), { connectTimeout: '500ms' });

  it('gets one request, and others after growing delays', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => reply(7, '0.0.0.0', 0);
    const { daemon, client } = await behind(t, upstream);
    const chatter = setInterval(() => client.send(FAR, FAR_PORT, 'x'), 20);
    try {
      await eventually(() => assert.ok(upstream.askedAt.length >= 3));
    } finally {
      clearInterval(chatter);
    }
    await directEcho(t, client);
    const [first = 0, second = 0, third = 0] = upstream.askedAt;
    // One and two seconds, as seen from here: the upstream proxy may notice one request later than another.
    assert.ok(second - first >= 500, `${second - first} ms`);
    assert.ok(third - second >= 1_500, `${third - second} ms`);
    const dropped = (await droppedBy(daemon, client)) as Record<string, number>;
    assert.deepEqual(Object.keys(dropped), ['upstream-reply-7']);
    const lines = daemon.lines.filter((line) => line.msg === 'destination refused');
    assert.equal(lines.length, 1, 'one line, however many datagrams');
    assert.equal(lines[0]?.['destination'], `${FAR}:${FAR_PORT}`);
  });

  for (const [what, answer, reason] of [
    ['says nothing', 'silence', 'upstream-timeout'],
    ['closes', 'close', 'upstream-closed'],
    ['speaks another protocol', Buffer.from('HTTP/1.1 400'), 'upstream-protocol'],
    ['stops in the middle of its reply', reply(0, '127.0.0.1', 9).subarray(0, 7), 'upstream-timeout'],
    ['has its relay at port 0', reply(0, '0.0.0.0', 0), 'upstream-relay'],
    ['has its relay at a group of hosts', reply(0, '224.0.0.1', 9), 'upstream-relay'],
    ['has its relay at a metadata service', reply(0, '169.254.169.254', 53), 'upstream-relay'],
  ] as const) {
    it(`drops what waited when it ${what}`, async (t) => {
      const upstream = await startUpstream(t);
      upstream.answer = () => answer;
      const { daemon, client } = await behindImpatient(t, upstream);
      for (let i = 0; i < 3; i += 1) client.send(FAR, FAR_PORT, 'x');
      await refusal(daemon, reason);
      await directEcho(t, client);
      assert.deepEqual(await droppedBy(daemon, client), { [reason]: 3 });
      await eventually(() => assert.ok(upstream.controls.every((control) => control.destroyed)));
    });
  }

  it('cannot be reached', async (t) => {
    const { daemon, client } = await behind(t, await startUpstream(t));
    client.send(NOWHERE, FAR_PORT, 'x');
    await refusal(daemon, 'upstream-ECONNREFUSED');
    assert.deepEqual(await droppedBy(daemon, client), { 'upstream-ECONNREFUSED': 1 });
  });

  it('has its relay where our own players send to', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await behind(t, upstream);
    upstream.answer = () => reply(0, '127.0.0.1', client.relay.port);
    client.send(FAR, FAR_PORT, datagram(FAR, FAR_PORT, 'round and round'));
    await refusal(daemon, 'upstream-relay');
    assert.deepEqual(await droppedBy(daemon, client), { 'upstream-relay': 1 });
  });

  it('is this proxy itself', async (t) => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const { daemon, client } = await startBehind(t, { port }, { port });
    client.send(FAR, FAR_PORT, 'x');
    await refusal(daemon, 'upstream-is-this-proxy');
    await directEcho(t, client);
    assert.deepEqual(await droppedBy(daemon, client), { 'upstream-is-this-proxy': 1 });
  });

  it('gets no request at the limit of connections', async (t) => {
    const upstream = await startUpstream(t);
    // The client's connection and its association.
    const { daemon, client } = await startBehind(t, upstream, { maxConnections: 2 });
    client.send(FAR, FAR_PORT, 'x');
    await refusal(daemon, 'max-connections');
    await directEcho(t, client);
    assert.deepEqual(await droppedBy(daemon, client), { 'max-connections': 1 });
    assert.equal(upstream.controls.length, 0);
  });

  it('is left when no port of portRange is free for its datagrams', async (t) => {
    const upstream = await startUpstream(t);
    const free = await UdpEnd.open(t, '0.0.0.0');
    const { port } = free;
    free.close();
    const { daemon, client } = await startBehind(t, upstream, { udp: { portRange: `${port}-${port}` } });
    client.send(FAR, FAR_PORT, 'x');
    await refusal(daemon, 'no-port');
    assert.deepEqual(await droppedBy(daemon, client), { 'no-port': 1 });
    await eventually(() => assert.ok(upstream.controls[0]?.destroyed));
  });

  it('queues at most maxWaitingForUpstream datagrams', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => 'silence';
    const { daemon, client } = await behindStrict(t, upstream);
    for (let i = 1; i <= 5; i += 1) client.send(FAR, FAR_PORT, `${i}`);
    await refusal(daemon, 'waiting');
    await eventually(() => assert.equal(upstream.controls.length, 1));
    await directEcho(t, client);
    upstream.controls[0]?.write(reply(0, '0.0.0.0', upstream.relay.port));
    for (let i = 1; i <= 3; i += 1) {
      assert.deepEqual((await upstream.relay.receive()).data, datagram(FAR, FAR_PORT, `${i}`));
    }
    client.send(FAR, FAR_PORT, 'later');
    assert.deepEqual((await upstream.relay.receive()).data, datagram(FAR, FAR_PORT, 'later'));
    assert.deepEqual(await droppedBy(daemon, client), { waiting: 2 });
  });

  it('queues 32 datagrams by default', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => 'silence';
    const { daemon, client } = await behindImpatient(t, upstream);
    for (let i = 0; i < 33; i += 1) client.send(FAR, FAR_PORT, 'x');
    await refusal(daemon, 'upstream-timeout');
    await directEcho(t, client);
    assert.deepEqual(await droppedBy(daemon, client), { waiting: 1, 'upstream-timeout': 32 });
  });

  it('is left alone when the association ends first', async (t) => {
    const upstream = await startUpstream(t);
    upstream.answer = () => 'silence';
    const { daemon, client } = await behind(t, upstream);
    client.send(FAR, FAR_PORT, 'x');
    await eventually(() => assert.equal(upstream.controls.length, 1));
    client.control.destroy();
    await daemon.waitForLine((line) => line.msg === 'session ended');
    // Long before it would be given up.
    await eventually(() => assert.ok(upstream.controls[0]?.destroyed));
  });
});

describe('an upstream proxy that lets datagrams through', () => {
  for (const [what, bound] of [
    ['0.0.0.0', (port: number) => reply(0, '0.0.0.0', port)],
    ['its address', (port: number) => reply(0, '127.0.0.1', port)],
    ['::', (port: number) => Buffer.from([5, 0, 0, 4, ...Buffer.alloc(16), port >> 8, port & 255])],
    ['a name', (port: number) => Buffer.from([5, 0, 0, 3, 1, 0x61, port >> 8, port & 255])],
  ] as const) {
    it(`may say that its relay is at ${what}`, async (t) => {
      const upstream = await startUpstream(t);
      upstream.answer = () => bound(upstream.relay.port);
      const { client } = await behind(t, upstream);
      client.send(FAR, FAR_PORT, 'there');
      const { data, from } = await upstream.relay.receive();
      assert.deepEqual(data, datagram(FAR, FAR_PORT, 'there'));
      upstream.relay.send(datagram(FAR, FAR_PORT, 'and back'), from.port, from.address);
      const answer = await client.receive();
      assert.deepEqual([answer.host, answer.port, answer.data.toString()], [FAR, FAR_PORT, 'and back']);
    });
  }

  it('may have its relay at another address', async (t) => {
    const upstream = await startUpstream(t);
    const relay = await UdpEnd.open(t, '127.0.0.9');
    upstream.answer = () => reply(0, '127.0.0.9', relay.port);
    const { client } = await behind(t, upstream);
    client.send(FAR, FAR_PORT, 'there');
    const { data, from } = await relay.receive();
    assert.deepEqual(data, datagram(FAR, FAR_PORT, 'there'));
    // The port is right, the address is not.
    upstream.relay.send(datagram(FAR, FAR_PORT, 'from elsewhere'), from.port, from.address);
    relay.send(datagram(FAR, FAR_PORT, 'and back'), from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'and back');
  });

  it('may be reached by IPv6', async (t) => {
    const upstream = await startUpstream(t, '::1');
    const upstreams = [{ proxy: `[::1]:${upstream.port}` }];
    const { client } = await startBehind(t, upstream, { upstreams });
    client.send(FAR, FAR_PORT, 'there');
    const { data, from } = await upstream.relay.receive();
    assert.deepEqual([data, from.address], [datagram(FAR, FAR_PORT, 'there'), '::1']);
    upstream.relay.send(datagram('2001:db8::7', FAR_PORT, 'from a stranger'), from.port, from.address);
    const answer = await client.receive();
    assert.deepEqual([answer.host.slice(0, 8), answer.data.toString()], ['20010db8', 'from a stranger']);
  });

  it('is given names as names', async (t) => {
    const upstream = await startUpstream(t);
    const { client } = await behind(t, upstream);
    client.send(Buffer.from('GAME.there.test'), FAR_PORT, 'x');
    const { data, from } = await upstream.relay.receive();
    assert.deepEqual(data, datagram(Buffer.from('game.there.test'), FAR_PORT, 'x'));
    // The upstream proxy knows the address.
    upstream.relay.send(datagram('10.0.0.7', FAR_PORT, 'answer'), from.port, from.address);
    const answer = await client.receive();
    assert.deepEqual([answer.host, answer.port, answer.data.toString()], ['10.0.0.7', FAR_PORT, 'answer']);
  });

  it('may send garbage, which is dropped and counted', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await behind(t, upstream);
    client.send(FAR, FAR_PORT, 'x');
    const { from } = await upstream.relay.receive();
    const good = datagram(FAR, FAR_PORT, 'good');
    const malformed = [
      Buffer.alloc(0),
      Buffer.from('no header'),
      good.subarray(0, 9),
      Buffer.concat([Buffer.from([0, 1]), good.subarray(2)]),
      Buffer.concat([Buffer.from([0, 0, 0, 9]), good.subarray(4)]),
      datagram(FAR, 0, 'port 0'),
      datagram(Buffer.alloc(0), FAR_PORT, 'no name'),
      Buffer.alloc(60_000, 0xff),
    ];
    for (const bytes of malformed) upstream.relay.send(bytes, from.port, from.address);
    upstream.relay.send(datagram(FAR, FAR_PORT, 'first of two', 1), from.port, from.address);
    upstream.relay.send(datagram(FAR, FAR_PORT, 'second of two', 2 | 0x80), from.port, from.address);
    const nobody = [
      datagram(Buffer.from('unasked.test'), FAR_PORT, 'x'),
      datagram('127.0.0.66', FAR_PORT, 'denied'),
      datagram('224.0.0.1', FAR_PORT, 'a group'),
    ];
    for (const bytes of nobody) upstream.relay.send(bytes, from.port, from.address);
    const stranger = await UdpEnd.open(t);
    stranger.send(good, from.port, from.address);
    // Nothing is expected here, and nothing happens.
    upstream.controls[0]?.write('unexpected');
    // Datagrams of two senders are in no order: the stranger's was sent long before this one is.
    await pause(50);
    upstream.relay.send(good, from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'good');
    await directEcho(t, client);
    assert.equal(client.end.unread, 0);
    assert.deepEqual(await droppedBy(daemon, client), {
      'upstream-malformed': malformed.length,
      'upstream-fragment': 2,
      unsolicited: nobody.length + 1,
    });
  });

  it('forwards only from addresses that the client has sent to, with fullCone false', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await behindStrict(t, upstream);
    client.send(FAR, FAR_PORT, 'x');
    const { from } = await upstream.relay.receive();
    const say = (host: string, port: number, data: string): void =>
      upstream.relay.send(datagram(host, port, data), from.port, from.address);
    say('192.0.2.2', FAR_PORT, 'from a stranger');
    say(FAR, FAR_PORT + 1, 'from another port');
    say(`::ffff:c000:201`, FAR_PORT, 'mapped');
    for (const expected of ['from another port', 'mapped']) {
      const heard = await client.receive();
      assert.deepEqual([heard.host, heard.data.toString()], [FAR, expected]);
    }
    assert.deepEqual(await droppedBy(daemon, client), { unsolicited: 1 });
  });

  it('forgets whom the client sent to, beyond maxDestinations', async (t) => {
    const upstream = await startUpstream(t);
    const { client } = await behindStrict(t, upstream);
    client.send(FAR, FAR_PORT, 'one');
    await upstream.relay.receive();
    client.send('192.0.2.2', FAR_PORT, 'two');
    const { from } = await upstream.relay.receive();
    upstream.relay.send(datagram(FAR, FAR_PORT, 'forgotten'), from.port, from.address);
    upstream.relay.send(datagram('192.0.2.2', FAR_PORT, 'remembered'), from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'remembered');
  });

  it('may end its association: the next datagram asks for another', async (t) => {
    const upstream = await startUpstream(t);
    // Room for one datagram that waits, and one way to an upstream proxy: both are given back.
    const room = { maxConnections: 3, udp: { maxWaitingForUpstream: 1 } };
    const { daemon, client } = await startBehind(t, upstream, room);
    client.send(FAR, FAR_PORT, 'one');
    const old = (await upstream.relay.receive()).from;
    // Long enough ago that asking again does not hammer it.
    await pause(1_000 - (performance.now() - (upstream.askedAt[0] ?? 0)));
    upstream.controls[0]?.end();
    await once(upstream.controls[0] ?? assert.fail(), 'close');
    client.send(FAR, FAR_PORT, 'two');
    const { data, from } = await upstream.relay.receive();
    assert.deepEqual(data, datagram(FAR, FAR_PORT, 'two'));
    assert.notEqual(from.port, old.port);
    upstream.relay.send(datagram(FAR, FAR_PORT, 'back'), from.port, from.address);
    assert.equal((await client.receive()).data.toString(), 'back');
    // Ended again too soon.
    upstream.controls[1]?.resetAndDestroy();
    await eventually(async () => {
      client.send(FAR, FAR_PORT, 'x');
      assert.ok(daemon.lines.some((line) => line['reason'] === 'upstream-closed'));
    });
    assert.equal(upstream.controls.length, 2);
    await directEcho(t, client);
  });

  it('does not keep an association alive that sends nothing', async (t) => {
    const upstream = await startUpstream(t);
    const { daemon, client } = await startBehind(t, upstream, { udp: { idleTimeout: '1s' } });
    client.send(FAR, FAR_PORT, 'x');
    await upstream.relay.receive();
    await client.control.closed();
    const line = await daemon.waitForLine((each) => each.msg === 'session ended');
    assert.equal(line['end'], 'idle-timeout');
    await eventually(() => assert.ok(upstream.controls[0]?.destroyed));
  });
});
