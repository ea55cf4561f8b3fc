// The worker's associations in turns: what one of them has waiting never keeps the others from theirs.
import assert from 'node:assert/strict';
import type { Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { headerKey } from '../../src/core/sessions/datagram-header.js';
import { datagramDescriptor, setReceiving } from '../../src/relay/handle.js';
import { createDatagramPump } from '../../src/relay/splice/datagrams.js';
import { EPOLL_EVENT, loadLibc } from '../../src/relay/splice/libc.js';
import { allocateShared, viewShared } from '../../src/relay/splice/shared.js';
import { toSockaddr } from '../../src/relay/splice/sockaddr.js';
import { headerFor, openEnd } from './datagram-suite.js';

/** What the worker takes from one socket before it looks at the next. */
const BATCH = 32;
/** What it hears of in one look at epoll. */
const EVENTS = 256;
const WAITING = 200;

for (const flooded of [1, EVENTS + 50]) {
  test(`of ${flooded} flooded associations and a quiet one each has its turn`, {
    timeout: 60_000,
  }, async () => {
    const libc = loadLibc();
    const epoll = libc.epollCreate();
    const shared = viewShared(allocateShared());
    const pump = createDatagramPump(libc, epoll, 0, shared, () => assert.fail('all is covered'));
    const destination = await openEnd();
    const client = await openEnd();
    const sockets: DatagramSocket[] = [];
    const open = async (slot: number) => {
      const [inner, outer] = [(await openEnd()).socket, (await openEnd()).socket];
      for (const socket of [inner, outer]) setReceiving(socket, false);
      sockets.push(inner, outer);
      const header = headerFor(destination.at);
      pump.obey({
        kind: 'take',
        slot,
        generation: 1,
        inner: datagramDescriptor(inner) ?? assert.fail(),
        outer4: datagramDescriptor(outer) ?? assert.fail(),
        outer6: -1,
        client: toSockaddr(client.at) ?? assert.fail(),
        routes: [
          {
            key: headerKey(header) ?? assert.fail(),
            headerLength: header.length,
            to: toSockaddr(destination.at) ?? assert.fail(),
          },
        ],
        sources: [],
      });
      return { address: '127.0.0.1', port: inner.address().port };
    };
    const send = (to: { address: string; port: number }, bytes: number) =>
      new Promise<void>((resolve) => {
        const datagram = Buffer.concat([headerFor(destination.at), Buffer.alloc(bytes)]);
        client.socket.send(datagram, to.port, to.address, () => resolve());
      });
    const movedOf = (slot: number) => shared.datagrams[5 * slot + 2] ?? 0;

    for (let slot = 1; slot <= flooded; slot += 1) {
      const to = await open(slot);
      await Promise.all(Array.from({ length: WAITING }, () => send(to, 1)));
    }
    await send(await open(0), 50);
    const events = new Int32Array(EVENTS * EPOLL_EVENT.words);
    const looks = Math.ceil((flooded + 1) / EVENTS);
    for (let look = 0; look < looks; look += 1) {
      const count = libc.epollWait(epoll, events, EVENTS, 0);
      for (let at = 0; at < count * EPOLL_EVENT.words; at += EPOLL_EVENT.words) {
        pump.event(events[at + EPOLL_EVENT.data] ?? -1, events[at + EPOLL_EVENT.data + 1] ?? -1);
      }
    }
    assert.equal(movedOf(0), 1);
    for (let slot = 1; slot <= flooded; slot += 1) {
      assert.ok(movedOf(slot) >= BATCH && movedOf(slot) <= looks * BATCH, `${slot}: ${movedOf(slot)}`);
    }
    for (const socket of [...sockets, destination.socket, client.socket]) {
      socket.close();
      await once(socket, 'close');
    }
    libc.close(epoll);
  });
}
