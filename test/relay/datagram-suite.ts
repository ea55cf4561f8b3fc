// What every datagram engine must do, whichever way it moves the datagrams. The owner here is the test.
import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { parseIp } from '../../src/core/ip.js';
import { MAX_DATAGRAM_BYTES, writeDatagramHeader } from '../../src/core/sessions/datagram-header.js';
import type { DatagramEngine, DatagramRelay, Endpoint } from '../../src/core/sessions/datagram-relay.js';
import { createSharedRate } from '../../src/core/sessions/rate-limit.js';
import { setReceiving } from '../../src/relay/handle.js';
import { forEach, openDescriptors, settled, until } from './harness.js';

export interface DatagramsUnderTest {
  readonly engine: DatagramEngine;
  close(): Promise<void>;
}

/** Echoes before the event of a test: none, and enough for an engine that changes its way to have done so. */
const WARM_UPS = [0, 80];
/** FRAG, RFC 1928 §7. */
const FRAGMENT_AT = 2;
const ASSOCIATIONS = Number(process.env['RELAY_TEST_ASSOCIATIONS'] ?? 500);

const AT_ONCE = 100;
const FLOOD_MS = 2000;

/** What is left open fails the suite, and does not hold it up. */
const AFTER = { timeout: 60_000 };

function it(name: string, run: () => Promise<void>): void {
  test(name, { timeout: 60_000 }, run);
}

/** A socket on loopback that keeps what it receives. */
interface End {
  readonly socket: Socket;
  readonly at: Endpoint;
  readonly received: { readonly data: Buffer; readonly from: RemoteInfo }[];
  send(data: Uint8Array, to: Endpoint): void;
}

export async function openEnd(address = '127.0.0.1', isEcho = false): Promise<End> {
  const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 });
  const received: End['received'] = [];
  socket.on('message', (data, from) => {
    if (isEcho) socket.send(data, from.port, from.address);
    else received.push({ data, from });
  });
  socket.bind(0, address);
  await once(socket, 'listening');
  const { port } = socket.address();
  return {
    socket,
    at: { address, port },
    received,
    send: (data, to) => socket.send(data, to.port, to.address),
  };
}

interface Association {
  readonly relay: DatagramRelay;
  readonly client: End;
  /** What came up to the owner. */
  readonly fromClient: { readonly data: Buffer; readonly from: Endpoint }[];
  readonly fromOutside: { readonly data: Buffer; readonly from: Endpoint }[];
  /** Sends `data` behind the header for `to`. */
  send(to: Endpoint, data: Uint8Array): void;
  /** Covers `to` in both directions. */
  cover(to: Endpoint): void;
  /** `count` echoes from a covered destination. */
  echo(to: Endpoint, count: number): Promise<void>;
}

export function headerFor({ address, port }: Endpoint): Buffer {
  return writeDatagramHeader(parseIp(address) ?? new Uint8Array(), port);
}

export async function associate(
  engine: DatagramEngine,
  address = '127.0.0.1',
  watchFragments = false,
): Promise<Association> {
  const fromClient: Association['fromClient'] = [];
  const fromOutside: Association['fromOutside'] = [];
  const relay = await new Promise<DatagramRelay>((resolve, reject) => {
    engine(
      {
        bindAddress: address,
        portRange: null,
        onClientDatagram(data, { address, port }) {
          fromClient.push({ data, from: { address, port } });
          if (watchFragments && data[FRAGMENT_AT] !== 0) relay.watchClient(true);
        },
        onOutsideDatagram: (data, { address, port }) => fromOutside.push({ data, from: { address, port } }),
        ports: { opened() {}, closed() {} },
      },
      (opened) => (opened.ok ? resolve(opened.relay) : reject(new Error(opened.code))),
    );
  });
  const client = await openEnd(address);
  relay.setClient(client.at);
  const send = (to: Endpoint, data: Uint8Array): void =>
    client.send(Buffer.concat([headerFor(to), data]), relay.local);
  return {
    relay,
    client,
    fromClient,
    fromOutside,
    send,
    cover(to) {
      relay.setRoute(headerFor(to), to);
      relay.setSource(to, headerFor(to));
    },
    async echo(to, count) {
      for (let i = 0; i < count; i += 1) {
        send(to, Buffer.from(`echo ${i}`));
        await once(client.socket, 'message');
      }
      client.received.length = 0;
    },
  };
}

/** Sends these in turn to `to` as fast as a thread of its own can, from when the port is known until `stop()`. */
async function startFlood(to: Endpoint, datagrams: readonly Buffer[]) {
  const code = `
    const { parentPort, workerData: { to, datagrams } } = require('node:worker_threads');
    const socket = require('node:dgram').createSocket('udp4').on('error', () => {});
    socket.connect(to.port, to.address, () => {
      parentPort.postMessage(socket.address().port);
      const flood = () => {
        for (let i = 0; i < 64; i += 1) socket.send(datagrams[i % datagrams.length], () => {});
        setImmediate(flood);
      };
      flood();
    });`;
  const thread = new Worker(code, { eval: true, workerData: { to, datagrams } });
  const [port] = (await once(thread, 'message')) as [number];
  return { from: { address: '127.0.0.1', port }, stop: () => thread.terminate() };
}

/** The numbers of this moment: those of the relay itself go on. */
function countsOf({ counts }: DatagramRelay) {
  const { bytesUp, bytesDown, datagramsUp, unsendable } = counts;
  return { bytesUp, bytesDown, datagramsUp, unsendable };
}

export function datagramSuite(name: string, make: () => Promise<DatagramsUnderTest>): void {
  describe(name, () => {
    let made: DatagramsUnderTest;
    let echo: End;
    let echo6: End;
    let descriptors = 0;
    const used: Association[] = [];
    const open = async (address?: string, watchFragments = false): Promise<Association> => {
      const association = await associate(made.engine, address, watchFragments);
      used.push(association);
      return association;
    };
    before(async () => {
      made = await make();
      echo = await openEnd('127.0.0.1', true);
      echo6 = await openEnd('::1', true);
      descriptors = await settled(openDescriptors);
    });
    after(async () => {
      for (const { relay, client } of used) {
        relay.end();
        client.socket.close();
      }
      await until(() => openDescriptors() <= descriptors);
      echo.socket.close();
      echo6.socket.close();
      await made.close();
    }, AFTER);

    for (const warmUp of WARM_UPS) {
      const moment = warmUp === 0 ? 'at once' : `after ${warmUp} echoes`;
      const warm = async (address?: string, watchFragments = false): Promise<Association> => {
        const association = await open(address, watchFragments);
        association.cover(echo.at);
        await association.echo(echo.at, warmUp);
        return association;
      };

      it(`carries what is covered, byte for byte and counted, ${moment}`, async () => {
        const { relay, client, send, fromClient, fromOutside } = await warm();
        const before = relay.counts;
        const [up, down] = [before.bytesUp, before.bytesDown];
        const sizes = [0, 1, 200, 1472, 9000, 65_000];
        for (const [i, size] of sizes.entries()) {
          send(echo.at, Buffer.alloc(size, i + 1));
          await until(() => client.received.length > i);
          const { data, from } = client.received[i] ?? assert.fail();
          assert.ok(data.equals(Buffer.concat([headerFor(echo.at), Buffer.alloc(size, i + 1)])));
          assert.equal(from.port, relay.local.port);
        }
        const total = sizes.reduce((sum, size) => sum + size);
        await until(() => relay.counts.datagramsDown === warmUp + sizes.length);
        const { bytesUp, bytesDown, datagramsUp } = relay.counts;
        assert.deepEqual(
          [bytesUp - up, bytesDown - down, datagramsUp],
          [total, total, warmUp + sizes.length],
        );
        assert.deepEqual([fromClient, fromOutside], [[], []]);
      });

      it(`leaves to the owner what is not covered, and sends what it says, ${moment}`, async () => {
        const { relay, client, send, fromClient, fromOutside } = await warm();
        const other = await openEnd();
        send(other.at, Buffer.from('new'));
        await until(() => fromClient.length === 1);
        const { data, from } = fromClient[0] ?? assert.fail();
        assert.deepEqual(from, client.at);
        relay.sendOutside(data, headerFor(other.at).length, other.at);
        await until(() => other.received.length === 1);
        const { data: seen, from: outer } = other.received[0] ?? assert.fail();
        assert.equal(seen.toString(), 'new');
        other.send(Buffer.from('back'), { address: '127.0.0.1', port: outer.port });
        await until(() => fromOutside.length === 1);
        assert.deepEqual(fromOutside[0], { data: Buffer.from('back'), from: other.at });
        relay.sendToClient(headerFor(other.at), Buffer.from('back'));
        await until(() => client.received.length === 1);
        assert.equal(relay.counts.datagramsUp, warmUp + 1);
        assert.equal(relay.counts.datagramsDown, warmUp + 1);
        other.socket.close();
      });

      it(`sends to a parent behind a header that does not count, and brings what it sends as it came, ${moment}`, async () => {
        const { relay } = await warm();
        const parent = await openEnd();
        const heard: { data: Buffer; from: number }[] = [];
        const socket = relay.openParent({
          bindAddress: '127.0.0.1',
          to: parent.at,
          onDatagram: (data, { port }) => heard.push({ data, from: port }),
        });
        assert.ok(socket);
        const { bytesUp, datagramsUp, bytesDown } = countsOf(relay);
        const header = headerFor(echo.at);
        socket.send(header, Buffer.from('skipped, sent'), 'skipped, '.length);
        // The largest that fits, and one more.
        socket.send(header, Buffer.alloc(MAX_DATAGRAM_BYTES - header.length), 0);
        socket.send(header, Buffer.alloc(MAX_DATAGRAM_BYTES - header.length + 1), 0);
        await until(() => parent.received.length === 2);
        const { data, from } = parent.received[0] ?? assert.fail();
        assert.deepEqual(data, Buffer.concat([header, Buffer.from('sent')]));
        const now = countsOf(relay);
        assert.deepEqual(
          [now.bytesUp - bytesUp, now.datagramsUp - datagramsUp, now.unsendable],
          ['sent'.length + MAX_DATAGRAM_BYTES - header.length, 2, 1],
        );
        parent.send(Buffer.from('as it came'), { address: '127.0.0.1', port: from.port });
        await until(() => heard.length === 1);
        assert.deepEqual(heard, [{ data: Buffer.from('as it came'), from: parent.at.port }]);
        assert.equal(relay.counts.bytesDown, bytesDown);
        socket.close();
        socket.close();
        socket.send(header, Buffer.from('too late'), 0);
        assert.equal(relay.counts.datagramsUp, now.datagramsUp);
        parent.socket.close();
      });

      it(`routes and sources come and go, ${moment}`, async () => {
        const association = await warm();
        const { relay, client, send, fromClient, cover } = association;
        const other = await openEnd('127.0.0.1', true);
        cover(other.at);
        await association.echo(other.at, 3);
        relay.removeRoute(headerFor(other.at));
        // Orders and datagrams take different ways to a worker: sent until the owner sees one.
        while (fromClient.length === 0) {
          send(other.at, Buffer.from('uncovered'));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        cover(other.at);
        const before = client.received.length;
        while (client.received.length < before + 3) {
          send(other.at, Buffer.from('covered'));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        other.socket.close();
      });

      it(`takes routes from the client alone, ${moment}`, async () => {
        const { relay, fromClient } = await warm();
        const stranger = await openEnd();
        stranger.send(Buffer.concat([headerFor(echo.at), Buffer.from('x')]), relay.local);
        await until(() => fromClient.length === 1);
        assert.deepEqual(fromClient[0]?.from, stranger.at);
        relay.setClient(stranger.at);
        while (stranger.received.length === 0) {
          stranger.send(Buffer.concat([headerFor(echo.at), Buffer.from('mine now')]), relay.local);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        stranger.socket.close();
      });

      it(`fragments come up, and standalone datagrams behind them while the client is watched, ${moment}`, async () => {
        const { relay, client, send, fromClient } = await warm('127.0.0.1', true);
        const fragment = Buffer.concat([headerFor(echo.at), Buffer.from('part')]);
        fragment[FRAGMENT_AT] = 1;
        client.send(fragment, relay.local);
        send(echo.at, Buffer.from('seen'));
        await until(() => fromClient.length === 2);
        relay.watchClient(false);
        while (client.received.length === 0) {
          send(echo.at, Buffer.from('covered'));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      });

      it(`a fragment that the owner makes nothing of holds nothing up, ${moment}`, async () => {
        const { relay, client, send, fromClient } = await warm();
        const fragment = Buffer.concat([headerFor(echo.at), Buffer.from('part')]);
        fragment[FRAGMENT_AT] = 1;
        client.send(fragment, relay.local);
        await until(() => fromClient.length === 1);
        while (client.received.length === 0) {
          send(echo.at, Buffer.from('covered'));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      });

      it(`reaches both families, ${moment}`, async () => {
        const association = await warm();
        association.cover(echo6.at);
        await association.echo(echo6.at, 100);
        await association.echo(echo.at, 10);
      });

      it(`serves a client on IPv6, ${moment}`, async () => {
        const association = await warm('::1');
        await association.echo(echo.at, 100);
        association.cover(echo6.at);
        await association.echo(echo6.at, 10);
      });

      it(`what cannot be sent is lost alone, ${moment}`, async () => {
        const association = await warm();
        const nobody = { address: '127.0.0.1', port: 9 };
        const nowhere = { address: '255.255.255.255', port: 9 };
        association.cover(nobody);
        association.cover(nowhere);
        for (let i = 0; i < 5; i += 1) {
          association.send(nobody, Buffer.from('x'));
          association.send(nowhere, Buffer.from('x'));
        }
        await association.echo(echo.at, 50);
      });

      it(`rates that come later hold, ${moment}`, async () => {
        const { relay, client, send } = await warm();
        const [up, down] = [createSharedRate(1, Date.now), createSharedRate(1e9, Date.now)];
        relay.limitRates({ up, down });
        while (relay.counts.overRate === 0) {
          send(echo.at, Buffer.alloc(1000));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        assert.ok(client.received.length < 1000);
      });

      it(`after end() nothing comes up and every socket closes, ${moment}`, async () => {
        const before = await settled(openDescriptors);
        const { relay, client, send, fromClient } = await warm();
        relay.end();
        relay.end();
        send({ address: '127.0.0.1', port: 1 }, Buffer.from('late'));
        await until(() => openDescriptors() <= before + 1);
        assert.deepEqual(fromClient, []);
        assert.equal(relay.counts.datagramsUp, warmUp);
        assert.equal(client.received.length, 0);
      });
    }

    it('a flood on one association does not starve another', async () => {
      const [flooded, playing] = [await open(), await open()];
      const nowhere = { address: '127.0.0.1', port: 9 };
      // Nobody reads there: what the flood does to its destination is not the player's matter.
      const sink = await openEnd();
      setReceiving(sink.socket, false);
      flooded.cover(sink.at);
      playing.cover(echo.at);
      await playing.echo(echo.at, 50);
      const flood = await startFlood(flooded.relay.local, [
        Buffer.concat([headerFor(sink.at), Buffer.alloc(200)]),
        Buffer.concat([headerFor(nowhere), Buffer.alloc(200)]),
      ]);
      flooded.relay.setClient(flood.from);
      const tripsMs: number[] = [];
      const [end, before] = [performance.now() + FLOOD_MS, flooded.relay.counts.datagramsUp];
      for (let now = performance.now(); now < end; now = performance.now()) {
        playing.send(echo.at, Buffer.alloc(50));
        await once(playing.client.socket, 'message');
        tripsMs.push(performance.now() - now);
      }
      const relayed = flooded.relay.counts.datagramsUp - before;
      await flood.stop();
      sink.socket.close();
      tripsMs.sort((a, b) => a - b);
      const [p50 = Number.NaN, worst = Number.NaN] = [tripsMs[tripsMs.length >> 1], tripsMs.at(-1)];
      const seen = `${tripsMs.length} round trips, p50 ${p50.toFixed(1)} ms, worst ${worst.toFixed(1)} ms, ${relayed} flooded`;
      assert.ok(relayed > 2_000, seen);
      assert.ok(tripsMs.length >= FLOOD_MS / 100 && worst < FLOOD_MS / 2, seen);
    });

    it(`${ASSOCIATIONS} associations at once, each with its own bytes`, async () => {
      const all = await Promise.all(Array.from({ length: ASSOCIATIONS }, () => open()));
      for (const association of all) association.cover(echo.at);
      // More of them at once, and what waits at the echo would be too much for its socket.
      await forEach(all, AT_ONCE, (association) => association.echo(echo.at, 40));
      await forEach(all, AT_ONCE, async ({ client, send }, i) => {
        send(echo.at, Buffer.from(`I am ${i}`));
        await until(() => client.received.length > 0);
        assert.equal(client.received[0]?.data.subarray(10).toString(), `I am ${i}`);
      });
    });
  });
}
