// What a datagram engine is: it moves datagrams between one client of an association and many destinations.
// It knows no rules. Who may send where is decided by its owner, datagram by datagram, until the owner sets a route
// or a source; what these cover the engine then moves by itself. An engine keeps no timers and never ends by itself:
// errors of datagrams (ICMP, full buffers, no route to a host) lose the datagram and nothing else.
import type { AccountRates } from './rate-limit.js';

/** An IP address, a link-local one with its zone, and a port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface DatagramRelayOptions {
  /** The address that the client sends to; decides the family of that socket. */
  readonly bindAddress: string;
  /** First and last port that sockets may be bound to, on both sides; null leaves it to the system. */
  readonly portRange: readonly [number, number] | null;
  /**
   * A datagram to the client's side that no route covers: from anyone at all, any bytes. Never called before `onOpen`
   * has returned. The buffer belongs to the owner.
   */
  readonly onClientDatagram: (datagram: Buffer, from: Endpoint) => void;
  /** The data of a datagram to the outer side from where no source was set. The buffer belongs to the owner. */
  readonly onOutsideDatagram: (data: Buffer, from: Endpoint) => void;
  /** Told of every port that is bound, and again when it is given back. */
  readonly ports: DatagramPorts;
  /** The rates of the account; what is beyond them is dropped. */
  readonly rates?: AccountRates | undefined;
}

/** Which UDP ports of this process are in use, by the side they are on. */
export interface DatagramPorts {
  opened(side: 'client' | 'outside', port: number): void;
  closed(side: 'client' | 'outside', port: number): void;
}

/** Numbers of one association so far; they stay readable after the end. */
export interface DatagramCounts {
  /** Data without SOCKS headers, client to destinations. */
  readonly bytesUp: number;
  /** Data without SOCKS headers, destinations to client. */
  readonly bytesDown: number;
  readonly datagramsUp: number;
  readonly datagramsDown: number;
  /** Larger than a datagram can be once it has its header, or without a socket of the family. */
  readonly unsendable: number;
  /** Dropped because the account's rates did not let them pass. */
  readonly overRate: number;
}

/** One association's sockets: one towards the client, and one outside for each family, opened when it is first needed. */
export interface DatagramRelay {
  /** Where the client's side is bound. */
  readonly local: Endpoint;
  readonly counts: DatagramCounts;
  /** Datagrams from here may use routes, and everything to the client goes here; one client at a time. */
  setClient(client: Endpoint): void;
  /** Standalone datagrams of the client whose SOCKS header is `header` go to `to`. */
  setRoute(header: Buffer, to: Endpoint): void;
  removeRoute(header: Buffer): void;
  /** Datagrams from `from` go to the client, behind the SOCKS header `header`. */
  setSource(from: Endpoint, header: Buffer): void;
  removeSource(from: Endpoint): void;
  /** While true no datagram of the client uses a route: the owner sees them all. */
  watchClient(watch: boolean): void;
  /** Sends what follows the first `offset` bytes of `datagram` to a destination. */
  sendOutside(datagram: Buffer, offset: number, to: Endpoint): void;
  /** Opens one more socket, for the relay of a parent proxy; null when there is no port or descriptor for it. */
  openParent(options: ParentSocketOptions): ParentSocket | null;
  /** Sends `data` to the client; does nothing before `setClient`. */
  sendToClient(header: Buffer, data: Buffer): void;
  /** From now on, or within a moment, it moves at the account's rates. */
  limitRates(rates: AccountRates): void;
  /** Closes the sockets; no callback is called from then on. Calling it twice does nothing more. */
  end(): void;
}

export interface ParentSocketOptions {
  readonly bindAddress: string;
  /** The parent's relay; of the family of `bindAddress`. */
  readonly to: Endpoint;
  /** A datagram from anyone at all, as it came. The buffer belongs to the owner. */
  readonly onDatagram: (datagram: Buffer, from: Endpoint) => void;
}

/** A socket towards the relay of a parent proxy. Its owner closes it, before the relay or after. */
export interface ParentSocket {
  /** Sends `header` and what follows the first `offset` bytes of `datagram`; the latter counts as sent outside. */
  send(header: Buffer, datagram: Buffer, offset: number): void;
  /** Calling it twice does nothing more. */
  close(): void;
}

/** `code` is a system error code such as EADDRINUSE (no port of the range is free) or EMFILE. */
export type OpenedRelay =
  | { readonly ok: true; readonly relay: DatagramRelay }
  | { readonly ok: false; readonly code: string };

/** Opens the client's side and calls `onOpen` once, perhaps before it returns. */
export type DatagramEngine = (options: DatagramRelayOptions, onOpen: (opened: OpenedRelay) => void) => void;
