// What the datagram engine of every engine must do. The test is the owner of the associations.
import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, before } from 'node:test';
import { type Endpoint, parseIp } from '../../../src/core/addresses/ip.js';
import { MAX_DATAGRAM_BYTES, writeDatagramHeader } from '../../../src/proxy/protocols/datagram-header.js';
import { eventually } from '../../helpers/eventually.js';
import { IPV6, needs } from '../../helpers/programs.js';
import { type Driver, Remote } from './driver.js';
import type { Rates } from './driver-objects.js';
import { it, settled } from './helpers.js';

/** FRAG, RFC 1928 §7. */
const FRAGMENT_AT = 2;

interface Received {
  readonly data: Buffer;
  readonly from: Endpoint;
}

/** A UDP socket on loopback that keeps the datagrams that it receives. */
class UdpPeer {
  readonly received: Received[] = [];

  private constructor(
    readonly socket: Socket,
    readonly at: Endpoint,
  ) {}

  static async open(address = '127.0.0.1', isEcho = false): Promise<UdpPeer> {
    const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 });
    socket.bind(0, address);
    await once(socket, 'listening');
    const peer = new UdpPeer(socket, { address, port: socket.address().port });
    socket.on('message', (data: Buffer, { address: host, port }: RemoteInfo) => {
      if (isEcho) socket.send(data, port, host);
      else peer.received.push({ data, from: { address: host, port } });
    });
    return peer;
  }

  send(data: Uint8Array, { port, address }: Endpoint): void {
    this.socket.send(data, port, address);
  }

  /** Resolves with all received datagrams once there are `count`. */
  async receive(count: number): Promise<readonly Received[]> {
    await eventually(() => this.received.length >= count);
    return this.received;
  }
}

function headerFor({ address, port }: Endpoint): Buffer {
  return writeDatagramHeader(parseIp(address) ?? new Uint8Array(), port);
}

interface Counts {
  readonly datagramsUp: number;
  readonly datagramsDown: number;
  readonly unsendable: number;
  readonly overRate: number;
}

/** An association and its client. */
class Association {
  constructor(
    readonly driver: Driver,
    readonly relay: Remote,
    readonly local: Endpoint,
    readonly client: UdpPeer,
    readonly countAt: number,
  ) {}

  counts(): Promise<Counts> {
    return this.relay.call<Counts>('counts');
  }

  bytes(): [up: number, down: number] {
    const { counts } = this.driver;
    return [counts[this.countAt] ?? 0, counts[this.countAt + 1] ?? 0];
  }

  /** The datagrams that the driver has passed to the owner. */
  passedToOwner(side: 'client' | 'outside'): readonly Received[] {
    const events = this.relay.events<{ data: Uint8Array; from: Endpoint }>(`${side} datagram`);
    return events.map(({ data, from }) => ({ data: Buffer.from(data), from }));
  }

  send(to: Endpoint, data: Uint8Array): void {
    this.client.send(Buffer.concat([headerFor(to), data]), this.local);
  }

  /** Sets the routes of `to` in both directions. */
  async addRoutes(to: Endpoint): Promise<void> {
    await this.relay.call('setRoute', headerFor(to), to);
    await this.relay.call('setSource', to, headerFor(to));
  }

  /** `count` echoes from a destination with routes, one by one. */
  async echo(to: Endpoint, count: number): Promise<void> {
    for (let i = 1; i <= count; i += 1) {
      this.send(to, Buffer.from(`echo ${i}`));
      await once(this.client.socket, 'message');
    }
    this.client.received.length = 0;
  }
}

export function datagramSuite(driver: () => Driver): void {
  let echo: UdpPeer;
  const peers: UdpPeer[] = [];
  const used: Association[] = [];

  before(async () => {
    echo = await open('127.0.0.1', true);
  });
  after(async () => {
    await Promise.all(used.map(({ relay }) => relay.call('close')));
    for (const { socket } of peers) socket.close();
  });

  async function open(address?: string, isEcho?: boolean): Promise<UdpPeer> {
    const peer = await UdpPeer.open(address, isEcho);
    peers.push(peer);
    return peer;
  }

  async function associate(
    settings: { bindAddress?: string; rates?: Rates; portRange?: [number, number] } = {},
  ): Promise<Association> {
    const opened = await driver().openDatagrams(settings);
    if (typeof opened === 'string') assert.fail(opened);
    const client = await open(settings.bindAddress);
    const association = new Association(driver(), opened.relay, opened.local, client, opened.countAt);
    used.push(association);
    await opened.relay.call('setClient', client.at);
    return association;
  }

  async function routedAssociation(settings?: Parameters<typeof associate>[0]): Promise<Association> {
    const association = await associate(settings);
    await association.addRoutes(echo.at);
    return association;
  }

  it('relays datagrams with routes unchanged, and counts them', async () => {
    const association = await routedAssociation();
    const { client, local } = association;
    const sizes = [0, 1, 200, 1472, 9000, 65_000];
    for (const [i, size] of sizes.entries()) {
      association.send(echo.at, Buffer.alloc(size, i + 1));
      const { data, from } = (await client.receive(i + 1))[i] ?? assert.fail();
      assert.ok(data.equals(Buffer.concat([headerFor(echo.at), Buffer.alloc(size, i + 1)])));
      assert.equal(from.port, local.port);
    }
    const total = sizes.reduce((sum, size) => sum + size);
    assert.deepEqual(association.bytes(), [total, total]);
    const { datagramsUp, datagramsDown } = await association.counts();
    assert.deepEqual([datagramsUp, datagramsDown], [sizes.length, sizes.length]);
    assert.deepEqual([association.passedToOwner('client'), association.passedToOwner('outside')], [[], []]);
  });

  it('relays bursts of one size, and of many sizes and destinations, completely and in order', async () => {
    const [one, other] = [await open(), await open()];
    const association = await associate();
    for (const peer of [one, other]) await association.addRoutes(peer.at);
    // Runs of equal length, a shorter last one, an empty one, and two destinations alternately.
    const sizes = [...Array<number>(40).fill(200), 100, 200, 200, 0, 300, 300, 1472, 1472, 2000, 2000, 5];
    const bursts = [
      sizes.map((size, i) => ({ to: one, data: Buffer.alloc(size, i) })),
      sizes.map((size, i) => ({ to: i % 2 === 0 ? one : other, data: Buffer.alloc(size, i) })),
    ];
    for (const burst of bursts) {
      for (const { to, data } of burst) association.send(to.at, data);
      for (const peer of [one, other]) {
        const sent = burst.filter(({ to }) => to === peer).map(({ data }) => data.toString('latin1'));
        const received = await peer.receive(sent.length);
        assert.deepEqual(
          received.map(({ data }) => data.toString('latin1')),
          sent,
        );
      }
      // The same burst back to the client, in order for each destination.
      const outside = one.received[0]?.from ?? assert.fail();
      for (const { to, data } of burst) to.send(data, { address: '127.0.0.1', port: outside.port });
      const received = await association.client.receive(burst.length);
      for (const peer of [one, other]) {
        const header = headerFor(peer.at);
        const fromPeer = received.filter(({ data }) => data.subarray(0, header.length).equals(header));
        const sent = burst.filter(({ to }) => to === peer).map(({ data }) => data.toString('latin1'));
        assert.deepEqual(
          fromPeer.map(({ data }) => data.toString('latin1', header.length)),
          sent,
        );
        peer.received.length = 0;
      }
      association.client.received.length = 0;
    }
  });

  it('passes datagrams without a route to the owner, and sends those of the owner', async () => {
    const association = await routedAssociation();
    const { relay, client } = association;
    const other = await open();
    association.send(other.at, Buffer.from('new'));
    await relay.event('client datagram');
    const { data, from } = association.passedToOwner('client')[0] ?? assert.fail();
    assert.deepEqual(from, client.at);
    await relay.call('sendOutside', data, headerFor(other.at).length, other.at);
    const [received] = await other.receive(1);
    assert.equal(received?.data.toString(), 'new');
    other.send(Buffer.from('back'), { address: '127.0.0.1', port: received?.from.port ?? 0 });
    await relay.event('outside datagram');
    assert.deepEqual(association.passedToOwner('outside')[0], { data: Buffer.from('back'), from: other.at });
    await relay.call('sendToClient', headerFor(other.at), Buffer.from('back'));
    const [answer] = await client.receive(1);
    assert.deepEqual(answer?.data, Buffer.concat([headerFor(other.at), Buffer.from('back')]));
    assert.deepEqual(association.bytes(), [3, 4]);
  });

  it('sends to an upstream proxy with a header that is not counted, and passes its datagrams to the owner unchanged', async () => {
    const association = await associate();
    const { relay } = association;
    const proxy = await open();
    const socket = new Remote(driver(), await relay.call<number>('openUpstream', '127.0.0.1', proxy.at));
    const header = headerFor(echo.at);
    await socket.call('send', header, Buffer.from('skipped, sent'), 'skipped, '.length);
    // The largest datagram that fits, and one that is a byte larger.
    await socket.call('send', header, Buffer.alloc(MAX_DATAGRAM_BYTES - header.length), 0);
    await socket.call('send', header, Buffer.alloc(MAX_DATAGRAM_BYTES - header.length + 1), 0);
    const [first] = await proxy.receive(2);
    assert.deepEqual(first?.data, Buffer.concat([header, Buffer.from('sent')]));
    assert.deepEqual(association.bytes(), ['sent'.length + MAX_DATAGRAM_BYTES - header.length, 0]);
    assert.equal((await association.counts()).unsendable, 1);
    proxy.send(Buffer.from('unchanged'), { address: '127.0.0.1', port: first?.from.port ?? 0 });
    const { data, from } = await socket.event<{ data: Uint8Array; from: Endpoint }>('datagram');
    assert.deepEqual([Buffer.from(data).toString(), from], ['unchanged', proxy.at]);
    for (let i = 0; i < 2; i += 1) await socket.call('close');
    await socket.call('send', header, Buffer.from('too late'), 0);
    assert.equal((await association.counts()).datagramsUp, 2);
  });

  it('knows the port from which its datagrams leave, before and after the first', async () => {
    const { relay } = await routedAssociation();
    const target = await open();
    const port = await relay.call<number>('outsidePort', target.at.address);
    await relay.call('sendOutside', Buffer.from('x'), 0, target.at);
    const [received] = await target.receive(1);
    assert.equal(received?.from.port, port);
    assert.equal(await relay.call('outsidePort', target.at.address), port);
  });

  it('follows changes of routes and sources', async () => {
    const association = await routedAssociation();
    const { relay, client } = association;
    await association.echo(echo.at, 3);
    await relay.call('removeRoute', headerFor(echo.at));
    association.send(echo.at, Buffer.from('no route'));
    await relay.event('client datagram');
    await relay.call('setRoute', headerFor(echo.at), echo.at);
    await relay.call('removeSource', echo.at);
    association.send(echo.at, Buffer.from('unknown source'));
    await relay.event('outside datagram');
    assert.deepEqual(client.received, []);
    await association.addRoutes(echo.at);
    await association.echo(echo.at, 3);
  });

  it('uses routes only for datagrams of the client', async () => {
    const { relay, local } = await routedAssociation();
    const stranger = await open();
    const datagram = Buffer.concat([headerFor(echo.at), Buffer.from('x')]);
    stranger.send(datagram, local);
    const passedToOwner = await relay.event<{ from: Endpoint }>('client datagram');
    assert.deepEqual(passedToOwner.from, stranger.at);
    await relay.call('setClient', stranger.at);
    stranger.send(datagram, local);
    await stranger.receive(1);
  });

  it('passes fragments to the owner, and every datagram while the client is watched', async () => {
    const association = await routedAssociation();
    const { relay, client } = association;
    const fragment = Buffer.concat([headerFor(echo.at), Buffer.from('part')]);
    fragment[FRAGMENT_AT] = 1;
    client.send(fragment, association.local);
    await relay.event('client datagram');
    // A fragment that the owner ignores delays no other datagram.
    await association.echo(echo.at, 1);
    await relay.call('watchClient', true);
    association.send(echo.at, Buffer.from('received'));
    await relay.event('client datagram', 1);
    assert.deepEqual(client.received, []);
    await relay.call('watchClient', false);
    await association.echo(echo.at, 1);
  });

  for (const bindAddress of ['127.0.0.1', '::1']) {
    it(
      `reaches both families for a client at ${bindAddress}`,
      async () => {
        const echo6 = await open('::1', true);
        const association = await routedAssociation({ bindAddress });
        await association.addRoutes(echo6.at);
        await association.echo(echo.at, 20);
        await association.echo(echo6.at, 20);
      },
      needs(IPV6),
    );
  }

  it('loses no other datagrams than those that cannot be sent', async () => {
    const association = await routedAssociation();
    const lost = [
      { address: '127.0.0.1', port: 9 },
      { address: '255.255.255.255', port: 9 },
    ];
    for (const to of lost) await association.addRoutes(to);
    for (let i = 0; i < 20; i += 1) {
      association.send(lost[i % 2] ?? assert.fail(), Buffer.alloc(50));
      association.send(echo.at, Buffer.from(`between ${i}`));
    }
    await association.client.receive(20);
    await association.relay.call('sendToClient', headerFor(echo.at), Buffer.alloc(MAX_DATAGRAM_BYTES));
    assert.equal((await association.counts()).unsendable, 1);
  });

  it('drops datagrams beyond the rates in both directions, until the rates are removed', async () => {
    const association = await routedAssociation({ rates: [5000, 1_000_000] });
    const { relay, client } = association;
    for (let i = 0; i < 50; i += 1) association.send(echo.at, Buffer.alloc(1000));
    await eventually(() => client.received.length > 0);
    await settled(() => client.received.length);
    // A burst of a tenth of a second (at least 2048 bytes), and the bytes that the rate permits meanwhile.
    assert.ok(client.received.length >= 2 && client.received.length < 10, `${client.received.length}`);
    const { overRate, datagramsUp } = await association.counts();
    assert.equal(overRate + datagramsUp, 50);
    assert.equal(association.bytes()[0], 1000 * datagramsUp);

    await relay.call('setRates', [1_000_000, 1]);
    const before = client.received.length;
    for (let i = 0; i < 20; i += 1) association.send(echo.at, Buffer.alloc(1000));
    await eventually(() => association.bytes()[0] >= 1000 * (datagramsUp + 20));
    await settled(() => client.received.length);
    assert.ok(client.received.length - before < 10);
    await relay.call('setRates', null);
    client.received.length = 0;
    for (let i = 0; i < 50; i += 1) association.send(echo.at, Buffer.alloc(1000));
    await client.receive(50);
  });

  it('uses ports of the range, reports them, and frees them', async () => {
    const probe = await open();
    const { port } = probe.at;
    assert.equal(await driver().openDatagrams({ portRange: [port, port] }), 'EADDRINUSE');
    const association = await routedAssociation();
    await association.echo(echo.at, 1);
    const added = association.relay.events<{ use: string; port: number }>('port added');
    assert.deepEqual(
      added.map(({ use }) => use),
      ['udp-client-side', 'udp-outside'],
    );
    assert.equal(added[0]?.port, association.local.port);
    await association.relay.call('close');
    assert.deepEqual(association.relay.events('port removed'), added);
    assert.equal(await driver().openDatagrams({ bindAddress: '192.0.2.1' }), 'EADDRNOTAVAIL');
  });

  it('passes, counts and sends no datagram after close()', async () => {
    const association = await routedAssociation();
    await association.echo(echo.at, 1);
    const { relay, client } = association;
    const before = await association.counts();
    await relay.call('close');
    await relay.call('close');
    association.send(echo.at, Buffer.from('late'));
    association.send({ address: '127.0.0.1', port: 1 }, Buffer.from('late'));
    await relay.call('sendToClient', headerFor(echo.at), Buffer.from('late'));
    await settled(() => client.received.length);
    assert.deepEqual([client.received, association.passedToOwner('client')], [[], []]);
    const { datagramsUp, datagramsDown } = await association.counts();
    assert.deepEqual([datagramsUp, datagramsDown], [before.datagramsUp, before.datagramsDown]);
  });

  it('relays for 200 associations at once without mixing their datagrams', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => routedAssociation()));
    await Promise.all(all.map((association) => association.echo(echo.at, 5)));
    for (const [i, association] of all.entries()) association.send(echo.at, Buffer.from(`I am ${i}`));
    for (const [i, { client }] of all.entries()) {
      const [received] = await client.receive(1);
      assert.equal(received?.data.subarray(10).toString(), `I am ${i}`);
    }
  });

  it('relays for one association during a flood on another', async () => {
    const [flooded, playing] = [await associate(), await routedAssociation()];
    const sink = createSocket('udp4');
    sink.bind(0, '127.0.0.1');
    await once(sink, 'listening');
    const to = { address: '127.0.0.1', port: sink.address().port };
    await flooded.addRoutes(to);
    const datagram = Buffer.concat([headerFor(to), Buffer.alloc(200)]);
    let hasEnded = false;
    const flood = (): void => {
      for (let i = 0; i < 32; i += 1) flooded.client.send(datagram, flooded.local);
      if (!hasEnded) setImmediate(flood);
    };
    flood();
    // An association that waited for the flood would wait for its end.
    for (let i = 0; i < 50; i += 1) {
      playing.send(echo.at, Buffer.alloc(50));
      await once(playing.client.socket, 'message');
    }
    hasEnded = true;
    sink.close();
    assert.ok((await flooded.counts()).datagramsUp > 100);
  });
}
