// UDP associations in the worker: what their routes and sources cover is received and sent in batches, the rest goes
// up to the main thread, as much of it as that can take. Every ready socket gets one batch in its turn.
import { headerKey, MAX_DATAGRAM_BYTES } from '../../core/sessions/datagram-header.js';
import { createBatch } from './batch.js';
import {
  ASSOCIATIONS,
  COUNTS,
  type DatagramNote,
  type DatagramOrder,
  MOST_WAITING,
  MOST_WAITING_IN_ALL,
} from './datagram-mail.js';
import { EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_EVENT, EPOLLIN, type Libc } from './libc.js';
import type { Shared } from './shared.js';
import { isIpv6, SOCKADDR_WORDS, sockaddrKey } from './sockaddr.js';

interface Association {
  readonly slot: number;
  readonly generation: number;
  readonly inner: number;
  outer4: number;
  outer6: number;
  client: Uint32Array;
  readonly routes: Map<number | string, { readonly headerLength: number; readonly to: Uint32Array }>;
  readonly sources: Map<number | string, Uint8Array>;
  isWatched: boolean;
}

const SIDES = 4;
const INNER = 0;
const OUTER4 = 1;
const OUTER6 = 2;
const FRAGMENT_AT = 2;
const [BYTES_UP, BYTES_DOWN, DATAGRAMS_UP, DATAGRAMS_DOWN, UNSENDABLE] = COUNTS.keys();

export interface DatagramPump {
  obey(order: DatagramOrder): void;
  /** An event of epoll at `side`, a number below `sides`. */
  event(side: number, generation: number): void;
}

/** How many sides `event` knows: each association has four, of which it uses three. */
export const DATAGRAM_SIDES = ASSOCIATIONS * SIDES;

/** @param firstSide what stands for side 0 in the epoll set, where others have theirs too */
export function createDatagramPump(
  libc: Libc,
  epoll: number,
  firstSide: number,
  shared: Shared,
  tell: (note: DatagramNote, transfer?: ArrayBuffer) => void,
): DatagramPump {
  const batch = createBatch(libc);
  const { memory, words } = batch;
  const bytes = new Uint8Array(memory);
  const associations = new Array<Association | undefined>(ASSOCIATIONS);
  const registration = new Int32Array(EPOLL_EVENT.words);

  const count = (slot: number, what: number | undefined, by: number): void => {
    const at = slot * COUNTS.length + (what ?? 0);
    shared.datagrams[at] = (shared.datagrams[at] ?? 0) + by;
  };
  /** False when epoll refuses it. A socket that is not open (-1) needs nothing. */
  const register = ({ slot, generation }: Association, side: number, fd: number): boolean => {
    if (fd < 0) return true;
    registration[0] = EPOLLIN;
    registration[EPOLL_EVENT.data] = firstSide + slot * SIDES + side;
    registration[EPOLL_EVENT.data + 1] = generation;
    return libc.epollCtl(epoll, EPOLL_CTL_ADD, fd, registration) === 0;
  };
  const release = ({ slot, generation, inner, outer4, outer6 }: Association): void => {
    for (const fd of [inner, outer4, outer6]) {
      if (fd >= 0) libc.epollCtl(epoll, EPOLL_CTL_DEL, fd, registration);
    }
    associations[slot] = undefined;
    tell({ kind: 'released', slot, generation });
  };
  const outerOf = (association: Association, to: Uint32Array): number =>
    isIpv6(to) ? association.outer6 : association.outer4;

  function isFrom(message: number, client: Uint32Array): boolean {
    const at = batch.senderAt(message);
    if (words[at] !== client[0]) return false;
    if (!isIpv6(client)) return words[at + 1] === client[1];
    // Without word 1, the flow label.
    for (let i = 2; i < SOCKADDR_WORDS; i += 1) if (words[at + i] !== client[i]) return false;
    return true;
  }

  function passUp(association: Association, message: number, side: 'client' | 'outside'): void {
    const { slot, generation, isWatched } = association;
    if (!shared.mayTell(slot, MOST_WAITING, MOST_WAITING_IN_ALL)) return;
    const at = batch.dataAt(message);
    const data = bytes.slice(at, at + batch.lengthOf(message));
    const sender = batch.senderAt(message);
    const from = words.slice(sender, sender + SOCKADDR_WORDS);
    tell({ kind: 'uncovered', slot, generation, side, data, from, isWatched }, data.buffer);
  }

  function fromClient(association: Association): void {
    const received = batch.receive(association.inner);
    for (let i = 0; i < received; i += 1) {
      if (!isFrom(i, association.client) || association.isWatched) {
        passUp(association, i, 'client');
        continue;
      }
      const at = batch.dataAt(i);
      const datagram = Buffer.from(memory, at, batch.lengthOf(i));
      const key = headerKey(datagram);
      const route = key === null ? undefined : association.routes.get(key);
      const fd = route === undefined ? -1 : outerOf(association, route.to);
      if (route !== undefined && fd >= 0) {
        const length = datagram.length - route.headerLength;
        batch.send(fd, at + route.headerLength, length, route.to);
        count(association.slot, BYTES_UP, length);
        count(association.slot, DATAGRAMS_UP, 1);
      } else {
        // Standalone datagrams behind a fragment must be seen too.
        association.isWatched = key === null && datagram[FRAGMENT_AT] !== 0;
        passUp(association, i, 'client');
      }
    }
    batch.flush();
  }

  function fromOutside(association: Association, fd: number): void {
    const received = batch.receive(fd);
    for (let i = 0; i < received; i += 1) {
      const header = association.sources.get(sockaddrKey(words, batch.senderAt(i)));
      if (header === undefined) {
        passUp(association, i, 'outside');
        continue;
      }
      const length = batch.lengthOf(i);
      const at = batch.dataAt(i) - header.length;
      if (header.length + length > MAX_DATAGRAM_BYTES) {
        count(association.slot, UNSENDABLE, 1);
        continue;
      }
      bytes.set(header, at);
      batch.send(association.inner, at, header.length + length, association.client);
      count(association.slot, BYTES_DOWN, length);
      count(association.slot, DATAGRAMS_DOWN, 1);
    }
    batch.flush();
  }

  return {
    obey(order) {
      const { slot, generation } = order;
      if (order.kind === 'take') {
        const { inner, outer4, outer6, client } = order;
        const routes = new Map(order.routes.map((route) => [route.key, route]));
        const sources = new Map(order.sources.map(({ from, header }) => [sockaddrKey(from, 0), header]));
        const taken = { slot, generation, inner, outer4, outer6, client, routes, sources, isWatched: false };
        associations[slot] = taken;
        const isRegistered =
          register(taken, INNER, inner) && register(taken, OUTER4, outer4) && register(taken, OUTER6, outer6);
        if (!isRegistered) release(taken);
        return;
      }
      const association = associations[slot];
      if (association?.generation !== generation) return;
      if (order.kind === 'route') association.routes.set(order.key, order);
      else if (order.kind === 'remove-route') association.routes.delete(order.key);
      else if (order.kind === 'source') association.sources.set(sockaddrKey(order.from, 0), order.header);
      else if (order.kind === 'remove-source') association.sources.delete(sockaddrKey(order.from, 0));
      else if (order.kind === 'client') association.client = order.client;
      else if (order.kind === 'watch') association.isWatched = order.watch;
      else if (order.kind === 'outer') {
        if (order.isIpv6) association.outer6 = order.fd;
        else association.outer4 = order.fd;
        if (!register(association, order.isIpv6 ? OUTER6 : OUTER4, order.fd)) release(association);
      } else release(association);
    },
    event(side, generation) {
      const association = associations[Math.floor(side / SIDES)];
      if (association?.generation !== generation) return;
      if (side % SIDES === INNER) fromClient(association);
      else fromOutside(association, side % SIDES === OUTER6 ? association.outer6 : association.outer4);
    },
  };
}
