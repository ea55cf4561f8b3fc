// What a datagram engine is: it moves datagrams between one client of an association and many destinations.
// It knows no rules. Who may send where is decided by its owner, datagram by datagram, until the owner sets a route
// or a source; what these cover the engine then moves by itself. An engine keeps no timers and never ends by itself:
// errors of datagrams (ICMP, full buffers, no route to a host) lose the datagram and nothing else.
import type { OwnPorts } from '../own-ports.js';
import type { Endpoint } from './basics.js';
import type { AccountRates } from './rates.js';

export interface DatagramRelayOptions {
  /** The address that the client sends to; decides the family of that socket. */
  readonly bindAddress: string;
  /** First and last port that sockets may be bound to, on both sides; null leaves it to the system. */
  readonly portRange: readonly [number, number] | null;
  /**
   * A datagram to the client's side that no route covers: from anyone at all, any bytes. Never called before `onOpen`
   * has returned. The buffer belongs to the engine and is overwritten after the call: copy what must last.
   */
  readonly onClientDatagram: (datagram: Buffer, from: Endpoint) => void;
  /** The data of a datagram to the outer side from where no source was set. The buffer as above. */
  readonly onOutsideDatagram: (data: Buffer, from: Endpoint) => void;
  /** Every port that is bound is added, and removed when its socket closes. */
  readonly ports: Pick<OwnPorts, 'add' | 'remove'>;
  /** The rates of the account, beyond which datagrams are dropped; null: none. */
  readonly rates: AccountRates | null;
  /** Where bytes of data without SOCKS headers are counted: to destinations at `countAt`, to the client at `countAt + 1`. */
  readonly counts: Float64Array;
  readonly countAt: number;
}

/** Numbers of one association so far; they stay readable after it is closed. */
export interface DatagramCounts {
  readonly datagramsUp: number;
  readonly datagramsDown: number;
  /** Larger than a datagram can be behind its header, or without a socket of the family. */
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
  /** Opens one more socket, for the relay of an upstream proxy; null when there is no port or descriptor for it. */
  openUpstream(options: UpstreamSocketOptions): UpstreamSocket | null;
  /** Sends `data` to the client; does nothing before `setClient`. */
  sendToClient(header: Buffer, data: Buffer): void;
  setRates(rates: AccountRates | null): void;
  /** Closes the sockets; no callback is called from then on. Calling it again does nothing. */
  close(): void;
}

export interface UpstreamSocketOptions {
  readonly bindAddress: string;
  /** The upstream proxy's relay; of the family of `bindAddress`. */
  readonly to: Endpoint;
  /** A datagram from anyone at all, as it came. The buffer as above. */
  readonly onDatagram: (datagram: Buffer, from: Endpoint) => void;
}

/** A socket towards the relay of an upstream proxy. Its owner closes it, before the relay or after. */
export interface UpstreamSocket {
  /** Sends `header` and what follows the first `offset` bytes of `datagram`; the latter counts as sent outside. */
  send(header: Buffer, datagram: Buffer, offset: number): void;
  /** Calling it again does nothing. */
  close(): void;
}

/** `code` is a system error code such as EADDRINUSE (no port of the range is free) or EMFILE. */
export type OpenedRelay =
  | { readonly ok: true; readonly relay: DatagramRelay }
  | { readonly ok: false; readonly code: string };

/** Opens the client's side and calls `onOpen` once, perhaps before it returns. */
export type DatagramEngine = (options: DatagramRelayOptions, onOpen: (opened: OpenedRelay) => void) => void;
