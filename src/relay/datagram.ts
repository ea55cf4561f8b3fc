// The portable datagram engine: node:dgram sockets, with a map lookup and no garbage of ours per datagram.
import { createSocket, type Socket } from 'node:dgram';
import { headerKey, MAX_DATAGRAM_BYTES } from '../core/sessions/datagram-header.js';
import type {
  DatagramEngine,
  DatagramRelay,
  DatagramRelayOptions,
  Endpoint,
} from '../core/sessions/datagram-relay.js';
import type { AccountRates } from '../core/sessions/rate-limit.js';
import { datagramDescriptor, setReceiving } from './handle.js';

/** Room for bursts while the event loop is busy; the system may grant less (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;

export interface Route {
  readonly headerLength: number;
  readonly to: Endpoint;
}

/** The sockets of a relay that lets another thread receive on them, and all that it needs to know. */
export interface LentSockets {
  readonly inner: number;
  /** -1: not open. */
  readonly outer4: number;
  readonly outer6: number;
  readonly client: Endpoint;
  readonly routes: ReadonlyMap<number | string, Route>;
  readonly sources: ReadonlyMap<string, ReadonlyMap<number, Buffer>>;
}

/** What someone who borrows sockets is told. */
export interface Borrower {
  /** After each datagram that a route or a source covered, while nothing is lent. */
  onMoved(): void;
  /** While sockets are lent, another has been opened: receiving on it is lent too. */
  onOuterOpened(isIpv6: boolean, fd: number): void;
}

/**
 * Returns the engine that relays with node:dgram alone.
 * @param random a number from 0 up to 1, for choosing among the ports of a range
 */
export function createDatagramRelay(random: () => number): DatagramEngine {
  return (options, onOpen) => {
    const opened = openSocket(options.bindAddress, options.portRange, random);
    if (typeof opened === 'string') onOpen({ ok: false, code: opened });
    else onOpen({ ok: true, relay: new SocketDatagramRelay(opened, options, random) });
  };
}

/** The sockets of one association. Lives until `end()`. */
export class SocketDatagramRelay implements DatagramRelay {
  readonly local: Endpoint;
  readonly counts = {
    bytesUp: 0,
    bytesDown: 0,
    datagramsUp: 0,
    datagramsDown: 0,
    unsendable: 0,
    overRate: 0,
  };
  readonly #options: DatagramRelayOptions;
  readonly #random: () => number;
  readonly #inner: Socket;
  #outer4: Socket | null = null;
  #outer6: Socket | null = null;
  #client: Endpoint | null = null;
  #watching = false;
  #rates: AccountRates | undefined;
  #ended = false;
  readonly #borrower: Borrower | null;
  #isLent = false;
  readonly #routes = new Map<number | string, Route>();
  /** Headers of the datagrams to the client, by source address and source port. */
  readonly #sources = new Map<string, Map<number, Buffer>>();

  constructor(
    inner: Socket,
    options: DatagramRelayOptions,
    random: () => number,
    borrower: Borrower | null = null,
  ) {
    this.#inner = inner;
    this.#borrower = borrower;
    this.#options = options;
    this.#random = random;
    this.#rates = options.rates;
    const { address, port } = inner.address();
    this.local = { address, port };
    options.ports.opened('client', port);
    inner.on('message', this.#onClientDatagram);
  }

  setClient(client: Endpoint): void {
    this.#client = client;
  }

  setRoute(header: Buffer, to: Endpoint): void {
    const key = headerKey(header);
    if (key !== null) this.#routes.set(key, { headerLength: header.length, to });
  }

  removeRoute(header: Buffer): void {
    const key = headerKey(header);
    if (key !== null) this.#routes.delete(key);
  }

  setSource({ address, port }: Endpoint, header: Buffer): void {
    const ports = this.#sources.get(address);
    if (ports) ports.set(port, header);
    else this.#sources.set(address, new Map([[port, header]]));
  }

  removeSource({ address, port }: Endpoint): void {
    const ports = this.#sources.get(address);
    ports?.delete(port);
    if (ports?.size === 0) this.#sources.delete(address);
  }

  watchClient(watch: boolean): void {
    this.#watching = watch;
  }

  limitRates(rates: AccountRates): boolean {
    this.#rates = rates;
    return true;
  }

  sendOutside(datagram: Buffer, offset: number, { address, port }: Endpoint): void {
    const length = datagram.length - offset;
    const socket = this.#outer(address);
    if (socket === null || length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return;
    }
    if (this.#rates && !this.#rates.up.pass(length)) {
      this.counts.overRate += 1;
      return;
    }
    // Without a callback what the system says of this datagram is dropped with it.
    socket.send(datagram, offset, length, port, address);
    this.counts.bytesUp += length;
    this.counts.datagramsUp += 1;
  }

  sendToClient(header: Buffer, data: Buffer): void {
    if (this.#ended || this.#client === null) return;
    if (header.length + data.length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return;
    }
    if (this.#rates && !this.#rates.down.pass(data.length)) {
      this.counts.overRate += 1;
      return;
    }
    this.#inner.send([header, data], this.#client.port, this.#client.address);
    this.counts.bytesDown += data.length;
    this.counts.datagramsDown += 1;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.ports.closed('client', this.local.port);
    close(this.#inner);
    for (const outer of [this.#outer4, this.#outer6]) {
      if (outer === null) continue;
      this.#options.ports.closed('outside', outer.address().port);
      close(outer);
    }
  }

  /** Stops receiving, for another thread to do it; null when there is no client yet, or Node does not offer it. */
  lend(): LentSockets | null {
    const client = this.#client;
    const sockets = [this.#inner, this.#outer4, this.#outer6];
    const [inner, outer4, outer6] = sockets.map((socket) => (socket ? datagramDescriptor(socket) : -1));
    if (this.#ended || client === null || typeof inner !== 'number') return null;
    if (typeof outer4 !== 'number' || typeof outer6 !== 'number') return null;
    // What waits to be sent would be overtaken.
    if (sockets.some((socket) => socket !== null && socket.getSendQueueCount() > 0)) return null;
    this.#isLent = true;
    for (const socket of sockets) if (socket) setReceiving(socket, false);
    return { inner, outer4, outer6, client, routes: this.#routes, sources: this.#sources };
  }

  /** Nobody else receives any more. */
  takeBack(): void {
    this.#isLent = false;
    for (const socket of [this.#inner, this.#outer4, this.#outer6]) if (socket) setReceiving(socket, true);
  }

  /** A datagram that the borrower received and has no route for. */
  receiveFromClient(datagram: Buffer, from: Endpoint): void {
    if (!this.#ended) this.#onClientDatagram(datagram, from);
  }

  /** A datagram that the borrower received from where it knows no source. */
  receiveFromOutside(data: Buffer, from: Endpoint): void {
    if (!this.#ended) this.#onOutsideDatagram(data, from);
  }

  readonly #onClientDatagram = (datagram: Buffer, from: Endpoint): void => {
    const client = this.#client;
    if (!this.#watching && client !== null && from.port === client.port && from.address === client.address) {
      const key = headerKey(datagram);
      const route = key === null ? undefined : this.#routes.get(key);
      if (route !== undefined) {
        this.sendOutside(datagram, route.headerLength, route.to);
        this.#moved();
        return;
      }
    }
    this.#options.onClientDatagram(datagram, from);
  };

  readonly #onOutsideDatagram = (data: Buffer, from: Endpoint): void => {
    const header = this.#sources.get(from.address)?.get(from.port);
    if (header === undefined) {
      this.#options.onOutsideDatagram(data, from);
      return;
    }
    this.sendToClient(header, data);
    this.#moved();
  };

  /** Rates and fragments are looked after here alone: nothing is lent while they matter. */
  #moved(): void {
    if (this.#borrower && !this.#isLent && !this.#watching && !this.#rates) this.#borrower.onMoved();
  }

  /** The socket for destinations of this family, opened now if there is none; null when it cannot be opened. */
  #outer(address: string): Socket | null {
    if (this.#ended) return null;
    const isV6 = address.includes(':');
    const open = isV6 ? this.#outer6 : this.#outer4;
    if (open !== null) return open;
    const opened = openSocket(isV6 ? '::' : '0.0.0.0', this.#options.portRange, this.#random);
    if (typeof opened === 'string') return null;
    opened.on('message', this.#onOutsideDatagram);
    this.#options.ports.opened('outside', opened.address().port);
    if (isV6) this.#outer6 = opened;
    else this.#outer4 = opened;
    if (this.#isLent) {
      setReceiving(opened, false);
      this.#borrower?.onOuterOpened(isV6, datagramDescriptor(opened) ?? -1);
    }
    return opened;
  }
}

/** A bound socket, or the system error code that says why there is none. */
export function openSocket(
  address: string,
  range: DatagramRelayOptions['portRange'],
  random: () => number,
): Socket | string {
  if (range === null) return bindSocket(address, 0);
  const [first, last] = range;
  const size = last - first + 1;
  // A port that is hard to guess keeps strangers from finding the client's side.
  const start = Math.floor(random() * size);
  let result: Socket | string = 'EADDRINUSE';
  for (let i = 0; i < size; i += 1) {
    result = bindSocket(address, first + ((start + i) % size));
    if (result !== 'EADDRINUSE') break;
  }
  return result;
}

function bindSocket(address: string, port: number): Socket | string {
  let failed: string | null = null;
  const isV6 = address.includes(':');
  const socket = createSocket({
    type: isV6 ? 'udp6' : 'udp4',
    ipv6Only: isV6,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // Every address is an address already: dns.lookup would cost each datagram a turn of the event loop.
    lookup: (host, family, done) => done(null, host, Number(family)),
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failed ??= error.code ?? 'UNKNOWN';
  });
  // With such a lookup `bind` is done, or has failed, when it returns.
  socket.bind({ address, port, exclusive: true });
  if (failed === null) return socket;
  close(socket);
  return failed;
}

function close(socket: Socket): void {
  socket.removeAllListeners('message');
  socket.close();
}
