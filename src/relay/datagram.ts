// The portable datagram engine: node:dgram sockets, with a map lookup and no garbage of ours per datagram.
import type { Socket } from 'node:dgram';
import { headerKey, MAX_DATAGRAM_BYTES } from '../core/sessions/datagram-header.js';
import type {
  DatagramEngine,
  DatagramRelay,
  DatagramRelayOptions,
  Endpoint,
  ParentSocket,
  ParentSocketOptions,
} from '../core/sessions/datagram-relay.js';
import type { AccountRates } from '../core/sessions/rate-limit.js';
import { closeSocket, openSocket } from './datagram-socket.js';
import { datagramDescriptor, setReceiving } from './handle.js';

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

  limitRates(rates: AccountRates): void {
    this.#rates = rates;
  }

  sendOutside(datagram: Buffer, offset: number, { address, port }: Endpoint): void {
    const length = datagram.length - offset;
    const socket = this.#outer(address);
    if (socket === null || length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return;
    }
    // Without a callback what the system says of this datagram is dropped with it.
    if (this.#goesUp(length)) socket.send(datagram, offset, length, port, address);
  }

  openParent({ bindAddress, to, onDatagram }: ParentSocketOptions): ParentSocket | null {
    const socket = this.#ended ? null : openSocket(bindAddress, this.#options.portRange, this.#random);
    if (socket === null || typeof socket === 'string') return null;
    const { port } = socket.address();
    this.#options.ports.opened('outside', port);
    socket.on('message', onDatagram);
    let isOpen = true;
    return {
      send: (header, datagram, offset) => {
        const length = datagram.length - offset;
        if (!isOpen) return;
        if (header.length + length > MAX_DATAGRAM_BYTES) this.counts.unsendable += 1;
        else if (this.#goesUp(length)) socket.send([header, datagram.subarray(offset)], to.port, to.address);
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#options.ports.closed('outside', port);
        closeSocket(socket);
      },
    };
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
    closeSocket(this.#inner);
    for (const outer of [this.#outer4, this.#outer6]) {
      if (outer === null) continue;
      this.#options.ports.closed('outside', outer.address().port);
      closeSocket(outer);
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

  /** Counts a datagram with `length` bytes of data towards its destination, unless the rates hold it back. */
  #goesUp(length: number): boolean {
    if (this.#rates && !this.#rates.up.pass(length)) {
      this.counts.overRate += 1;
      return false;
    }
    this.counts.bytesUp += length;
    this.counts.datagramsUp += 1;
    return true;
  }

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
