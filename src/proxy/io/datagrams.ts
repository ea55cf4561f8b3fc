// The datagram relay, which forwards datagrams between the client of an association and its destinations: what both engines have in common.
// The relay has no rules. The association decides about each datagram, until it sets a route or a source; the relay forwards
// datagrams that match one of these without the association. A relay has no timers and never ends by itself: an error
// (ICMP, full buffers, no route to a host) loses one datagram and has no other effect.
import type { PortRange } from '../../core/addresses/endpoints.js';
import type { Endpoint } from '../../core/addresses/ip.js';
import type { OwnPorts } from '../memory/own-ports.js';
import { headerKey, MAX_DATAGRAM_BYTES } from '../protocols/datagram-header.js';
import type { Handed, HandedDatagrams } from './handed.js';
import type { LocalEnd, LocalEnds } from './local-end.js';
import { type AccountRates, count, type Meter } from './rates.js';

export interface DatagramRelayOptions {
  /** Beyond its rates, and while its quota is used up, datagrams are dropped. */
  readonly meter: Meter;
  /** The address that the client sends to; decides the family of that socket. */
  readonly bindAddress: string;
  /** First and last port to which sockets are bound, on both sides; null: the system chooses. */
  readonly portRange: PortRange | null;
  /** Of the sockets towards destinations; null: as the system chooses. */
  readonly outside: LocalEnds | null;
  /**
   * A datagram to the client's side that matches no route. Its sender and content are unchecked. Never called before `onOpen` has
   * returned. The buffer belongs to the relay and is overwritten after the call: copy what must last.
   */
  readonly onClientDatagram: (datagram: Buffer, from: Endpoint) => void;
  /** The data of a datagram to an outside socket whose sender is no source. For the buffer see `onClientDatagram`. */
  readonly onOutsideDatagram: (data: Buffer, from: Endpoint) => void;
  /** Bound ports are added, and removed when their socket closes. */
  readonly ports: Pick<OwnPorts, 'add' | 'remove'>;
  /** Sockets that were handed over, in place of new ones. */
  readonly handed?: Handed<HandedDatagrams>;
}

interface UpstreamSocketOptions {
  readonly bindAddress: string;
  /** Its address is `bindAddress`; null: as the system chooses. */
  readonly end: LocalEnd | null;
  /** The upstream proxy's relay; of the family of `bindAddress`. */
  readonly to: Endpoint;
  /** A datagram to this socket. Its sender and content are unchecked. For the buffer see `onClientDatagram`. */
  readonly onDatagram: (datagram: Buffer, from: Endpoint) => void;
}

/** A socket for the relay of an upstream proxy. The association closes it, before or after the relay. */
export interface UpstreamSocket {
  /** Sends `header` and the data after `offset` in `datagram`; only the data is counted. */
  send(header: Buffer, datagram: Buffer, offset: number): void;
  /** Further calls do nothing. */
  close(): void;
}

export interface BoundSocket {
  readonly local: Endpoint;
  readonly isClosed: boolean;
  close(): void;
}

export interface Route<Address> {
  readonly headerLength: number;
  readonly to: Address;
}

/** What receives the datagrams of a socket. */
export type Side = 'client' | 'outside' | UpstreamSocketOptions['onDatagram'];

/**
 * The sockets of an association: one for the client, and one outbound for each family, opened when first needed.
 * `Address`: an endpoint as the engine sends to it.
 */
export abstract class DatagramRelay<Socket extends BoundSocket = BoundSocket, Address = unknown> {
  /** Readable after it is closed. `unsendable`: too large with the header, or no socket of its family. `overRate`: dropped by the rates. */
  readonly counts = { datagramsUp: 0, datagramsDown: 0, unsendable: 0, overRate: 0 };
  protected inner: Socket | null = null;
  /** The sockets towards destinations. */
  protected readonly outer: { ipv4: Socket | null; ipv6: Socket | null } = { ipv4: null, ipv6: null };
  protected client: Address | null = null;
  protected isWatched = false;
  protected isClosed = false;
  protected readonly routes = new Map<number | string, Route<Address>>();
  /** Headers of the datagrams to the client, by where they come from. */
  protected readonly sources = new Map<number | string, Buffer>();
  #rates: AccountRates | null;

  constructor(protected readonly options: DatagramRelayOptions) {
    this.#rates = options.meter.rates;
  }

  /** A bound socket, or a system error code. @param end its address is `address` */
  protected abstract openSocket(address: string, side: Side, end: LocalEnd | null): Socket | string;
  /** Null: it cannot be sent to. */
  protected abstract toAddress(endpoint: Endpoint): Address | null;
  protected abstract keyOf(address: Address): number | string;
  protected abstract isIpv6(address: Address): boolean;
  /** Sends header and data as one datagram. Errors are ignored: a datagram may be lost. */
  protected abstract send(socket: Socket, header: Buffer | null, data: Buffer, to: Address): void;
  /** Its sockets but those for upstream proxies. The relay can go on. Left out: the engine cannot hand them over. */
  handOver?(): Handed<HandedDatagrams>;

  /** Opens the socket towards the client; null, or a system error code. */
  protected start(
    inner: Socket | string = this.openSocket(this.options.bindAddress, 'client', null),
  ): string | null {
    if (typeof inner === 'string') return inner;
    this.inner = inner;
    this.options.ports.add('udp-client-side', inner.local.port);
    return null;
  }

  /** The local address of the client side. */
  get local(): Endpoint {
    return this.inner?.local ?? { address: '', port: 0 };
  }

  /** Sets the client's address: datagrams from it may use routes, and datagrams to the client go there. */
  setClient(client: Endpoint): void {
    this.client = this.toAddress(client);
  }

  /** Standalone datagrams of the client whose SOCKS header is `header` go to `to`. */
  setRoute(header: Buffer, to: Endpoint): void {
    const key = headerKey(header);
    const address = this.toAddress(to);
    if (key !== null && address !== null) this.routes.set(key, { headerLength: header.length, to: address });
  }

  removeRoute(header: Buffer): void {
    const key = headerKey(header);
    if (key !== null) this.routes.delete(key);
  }

  /** Datagrams from `from` go to the client, behind the SOCKS header `header`. */
  setSource(from: Endpoint, header: Buffer): void {
    const address = this.toAddress(from);
    if (address !== null) this.sources.set(this.keyOf(address), Buffer.from(header));
  }

  removeSource(from: Endpoint): void {
    const address = this.toAddress(from);
    if (address !== null) this.sources.delete(this.keyOf(address));
  }

  /** While true, no datagram of the client uses a route: the association receives all. */
  watchClient(watch: boolean): void {
    this.isWatched = watch;
  }

  setRates(rates: AccountRates | null): void {
    this.#rates = rates;
  }

  /** Sends the data after `offset` in `datagram` to a destination. */
  sendOutside(datagram: Buffer, offset: number, to: Endpoint): void {
    const address = this.toAddress(to);
    const socket = address === null ? '' : this.outerFor(address);
    const data = datagram.subarray(offset);
    if (address === null || typeof socket === 'string' || data.length > MAX_DATAGRAM_BYTES)
      this.counts.unsendable += 1;
    else if (this.passUp(data.length)) this.send(socket, null, data, address);
  }

  /** The port from which datagrams to `address` leave; a system error code when no socket of its family can be opened. */
  outsidePort(address: string): number | string {
    const to = this.toAddress({ address, port: 0 });
    const socket = to === null ? 'EADDRNOTAVAIL' : this.outerFor(to);
    return typeof socket === 'string' ? socket : socket.local.port;
  }

  /** Opens a socket for the relay of an upstream proxy; null when no port or file descriptor is free. */
  openUpstream({ bindAddress, end, to, onDatagram }: UpstreamSocketOptions): UpstreamSocket | null {
    const address = this.toAddress(to);
    if (this.isClosed || address === null) return null;
    const socket = this.openSocket(bindAddress, onDatagram, end);
    if (typeof socket === 'string') return null;
    this.options.ports.add('udp-outside', socket.local.port);
    return {
      send: (header, datagram, offset) => {
        const data = datagram.subarray(offset);
        if (socket.isClosed) return;
        if (header.length + data.length > MAX_DATAGRAM_BYTES) this.counts.unsendable += 1;
        else if (this.passUp(data.length)) this.send(socket, header, data, address);
      },
      close: () => {
        if (!socket.isClosed) this.#closeOutside(socket);
      },
    };
  }

  /** Sends `data` to the client; does nothing before `setClient`. */
  sendToClient(header: Buffer, data: Buffer): void {
    if (this.isClosed || this.client === null || this.inner === null) return;
    if (this.passDown(header.length, data.length)) this.send(this.inner, header, data, this.client);
  }

  /** Closes the sockets; no callback follows. Further calls do nothing. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.inner?.close();
    this.options.ports.remove('udp-client-side', this.local.port);
    for (const outer of [this.outer.ipv4, this.outer.ipv6]) if (outer !== null) this.#closeOutside(outer);
  }

  #closeOutside(socket: Socket): void {
    socket.close();
    this.options.ports.remove('udp-outside', socket.local.port);
  }

  /** The socket for destinations of this family, opened now if there is none; a system error code when it cannot be opened. */
  protected outerFor(to: Address): Socket | string {
    const family = this.isIpv6(to) ? 'ipv6' : 'ipv4';
    const open = this.outer[family];
    if (open !== null) return open;
    if (this.isClosed) return 'EBADF';
    const end = this.options.outside?.[family] ?? null;
    const everyAddress = family === 'ipv6' ? '::' : '0.0.0.0';
    const opened = this.openSocket(end?.address ?? everyAddress, 'outside', end);
    if (typeof opened !== 'string') this.setOuter(family, opened);
    return opened;
  }

  protected setOuter(family: 'ipv4' | 'ipv6', socket: Socket): void {
    this.options.ports.add('udp-outside', socket.local.port);
    this.outer[family] = socket;
  }

  /** Counts a datagram with `length` bytes of data to its destination, unless the rate or the quota forbids it. */
  protected passUp(length: number): boolean {
    if (this.#rates !== null && !this.#rates.up.pass(length)) {
      this.counts.overRate += 1;
      return false;
    }
    if (!this.#count(0, length)) return false;
    this.counts.datagramsUp += 1;
    return true;
  }

  /** Counts a datagram with `length` bytes of data to the client, unless it is too large or the rate or the quota forbids it. */
  protected passDown(headerLength: number, length: number): boolean {
    if (headerLength + length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return false;
    }
    if (this.#rates !== null && !this.#rates.down.pass(length)) {
      this.counts.overRate += 1;
      return false;
    }
    if (!this.#count(1, length)) return false;
    this.counts.datagramsDown += 1;
    return true;
  }

  /** False when the quota is used up: the association is about to end. */
  #count(direction: 0 | 1, bytes: number): boolean {
    const { meter } = this.options;
    const { quota } = meter.account;
    if (quota !== null && quota.left <= 0) return false;
    count(meter, meter.countAt + direction, bytes);
    return true;
  }
}

/** `code` is a system error code such as EADDRINUSE (no port of the range is free) or EMFILE. */
export type OpenedRelay =
  | { readonly ok: true; readonly relay: DatagramRelay }
  | { readonly ok: false; readonly code: string };

/** Opens the client side and calls `onOpen` once, possibly before it returns. */
export type OpenDatagrams = (options: DatagramRelayOptions, onOpen: (opened: OpenedRelay) => void) => void;
