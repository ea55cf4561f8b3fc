// UDP associations with a worker: each begins on node:dgram, and one that moves enough is lent to a worker, which
// relays what routes and sources cover. Everything else, and all rules, stay on the main thread.

import { headerKey } from '../../core/sessions/datagram-header.js';
import type {
  DatagramCounts,
  DatagramEngine,
  DatagramRelay,
  DatagramRelayOptions,
  Endpoint,
  ParentSocket,
  ParentSocketOptions,
} from '../../core/sessions/datagram-relay.js';
import type { AccountRates } from '../../core/sessions/rate-limit.js';
import { type LentSockets, SocketDatagramRelay } from '../datagram.js';
import { openSocket } from '../datagram-socket.js';
import type { RouteMail, SourceMail } from './datagram-mail.js';
import type { DatagramNoteBody, DatagramOrderBody, DatagramSeat, RelayWorker } from './relay-worker.js';
import { fromSockaddr, toSockaddr } from './sockaddr.js';

/** Covered datagrams after which an association is lent. */
export const LEND_AFTER = 32;

/** Returns the engine over workers that already run; where none has room, associations stay on node:dgram. */
export function createSpliceDatagrams(
  workers: readonly RelayWorker[],
  random: () => number,
  lendAfter = LEND_AFTER,
): DatagramEngine {
  let next = 0;
  const choose = (): RelayWorker | undefined => workers[next++ % workers.length];
  return (options, onOpen) => {
    const opened = openSocket(options.bindAddress, options.portRange, random);
    if (typeof opened === 'string') onOpen({ ok: false, code: opened });
    else onOpen({ ok: true, relay: new LendingRelay(opened, options, random, choose, lendAfter) });
  };
}

class LendingRelay implements DatagramRelay {
  readonly #sockets: SocketDatagramRelay;
  readonly #choose: () => RelayWorker | undefined;
  readonly #lendAfter: number;
  #moved = 0;
  #seat: DatagramSeat | null = null;
  /** What workers counted that had it before. */
  #past = [0, 0, 0, 0, 0];
  #isReleasing = false;
  #watching = false;
  #ended = false;

  constructor(
    inner: ConstructorParameters<typeof SocketDatagramRelay>[0],
    options: DatagramRelayOptions,
    random: () => number,
    choose: () => RelayWorker | undefined,
    lendAfter: number,
  ) {
    this.#choose = choose;
    this.#lendAfter = lendAfter;
    this.#sockets = new SocketDatagramRelay(inner, options, random, {
      onMoved: () => this.#onMoved(),
      onOuterOpened: (isIpv6, fd) => this.#order({ kind: 'outer', isIpv6, fd }),
    });
  }

  get local(): Endpoint {
    return this.#sockets.local;
  }

  get counts(): DatagramCounts {
    const own = this.#sockets.counts;
    const now = this.#seat?.counts() ?? [];
    const sum = (at: number): number => (this.#past[at] ?? 0) + (now[at] ?? 0);
    return {
      bytesUp: own.bytesUp + sum(0),
      bytesDown: own.bytesDown + sum(1),
      datagramsUp: own.datagramsUp + sum(2),
      datagramsDown: own.datagramsDown + sum(3),
      unsendable: own.unsendable + sum(4),
      overRate: own.overRate,
    };
  }

  setClient(client: Endpoint): void {
    this.#sockets.setClient(client);
    const sockaddr = toSockaddr(client);
    if (sockaddr) this.#order({ kind: 'client', client: sockaddr });
    else this.#release();
  }

  setRoute(header: Buffer, to: Endpoint): void {
    this.#sockets.setRoute(header, to);
    const mail = this.#seat && routeMail(headerKey(header), header.length, to);
    if (mail) this.#order({ kind: 'route', ...mail });
  }

  removeRoute(header: Buffer): void {
    this.#sockets.removeRoute(header);
    const key = headerKey(header);
    if (key !== null) this.#order({ kind: 'remove-route', key });
  }

  setSource(from: Endpoint, header: Buffer): void {
    this.#sockets.setSource(from, header);
    const mail = this.#seat && sourceMail(from, header);
    if (mail) this.#order({ kind: 'source', ...mail });
  }

  removeSource(from: Endpoint): void {
    this.#sockets.removeSource(from);
    const sockaddr = this.#seat && toSockaddr(from);
    if (sockaddr) this.#order({ kind: 'remove-source', from: sockaddr });
  }

  watchClient(watch: boolean): void {
    this.#sockets.watchClient(watch);
    if (watch !== this.#watching) this.#order({ kind: 'watch', watch });
    this.#watching = watch;
  }

  sendOutside(datagram: Buffer, offset: number, to: Endpoint): void {
    this.#sockets.sendOutside(datagram, offset, to);
  }

  /** Received on by the main thread alone. */
  openParent(options: ParentSocketOptions): ParentSocket | null {
    return this.#sockets.openParent(options);
  }

  sendToClient(header: Buffer, data: Buffer): void {
    this.#sockets.sendToClient(header, data);
  }

  /** A worker knows no rates: it gives the association back within a moment. */
  limitRates(rates: AccountRates): void {
    this.#sockets.limitRates(rates);
    this.#release();
  }

  /** While a worker receives on the sockets, they are closed when it has let go of them. */
  end(): void {
    this.#ended = true;
    if (this.#seat) this.#release();
    else this.#sockets.end();
  }

  #onMoved(): void {
    this.#moved += 1;
    if (this.#moved < this.#lendAfter || this.#seat) return;
    // Not lent now: tried again after as many more.
    this.#moved = 0;
    const worker = this.#choose();
    const lent = worker && this.#sockets.lend();
    if (!lent) return;
    const client = toSockaddr(lent.client);
    this.#seat =
      client && worker.takeDatagrams({ kind: 'take', ...mailOf(lent), client }, (note) => this.#onNote(note));
    if (!this.#seat) this.#sockets.takeBack();
  }

  #onNote(note: DatagramNoteBody): void {
    if (note.kind === 'released') {
      this.#past = this.#past.map((count, at) => count + (this.#seat?.counts()[at] ?? 0));
      this.#seat = null;
      this.#isReleasing = false;
      if (this.#ended) this.#sockets.end();
      else this.#sockets.takeBack();
      return;
    }
    const from = fromSockaddr(note.from);
    if (this.#ended || from === null) return;
    const data = Buffer.from(note.data.buffer, note.data.byteOffset, note.data.length);
    if (note.side === 'outside') this.#sockets.receiveFromOutside(data, from);
    else this.#sockets.receiveFromClient(data, from);
    // It watches since it saw a fragment; its owner may have found nothing to wait for.
    if (note.isWatched && !this.#watching) this.#order({ kind: 'watch', watch: false });
  }

  #order(order: DatagramOrderBody): void {
    if (!this.#isReleasing) this.#seat?.order(order);
  }

  #release(): void {
    this.#order({ kind: 'release' });
    this.#isReleasing = this.#seat !== null;
  }
}

function mailOf({ inner, outer4, outer6, routes, sources }: LentSockets) {
  const routeMails = [...routes].map(([key, { headerLength, to }]) => routeMail(key, headerLength, to));
  const sourceMails = [...sources].flatMap(([address, ports]) =>
    [...ports].map(([port, header]) => sourceMail({ address, port }, header)),
  );
  return {
    inner,
    outer4,
    outer6,
    routes: routeMails.filter((mail) => mail !== null),
    sources: sourceMails.filter((mail) => mail !== null),
  };
}

/** Null for what the worker cannot cover: such datagrams come up to the main thread. */
function routeMail(key: number | string | null, headerLength: number, to: Endpoint): RouteMail | null {
  const sockaddr = toSockaddr(to);
  return key !== null && sockaddr ? { key, headerLength, to: sockaddr } : null;
}

function sourceMail(from: Endpoint, header: Buffer): SourceMail | null {
  const sockaddr = toSockaddr(from);
  return sockaddr && { from: sockaddr, header: new Uint8Array(header) };
}
