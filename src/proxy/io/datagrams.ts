// The interface of a datagram relay, which forwards datagrams between the client of an association and its destinations.
// The relay has no rules. The association decides about each datagram, until it sets a route or a source; the relay forwards
// datagrams that match one of these without the association. A relay has no timers and never ends by itself: an error
// (ICMP, full buffers, no route to a host) loses one datagram and has no other effect.

import type { PortRange } from '../../core/endpoints.js';
import type { Endpoint } from '../../core/ip.js';
import type { OwnPorts } from '../memory/own-ports.js';
import type { Handed, HandedDatagrams } from './handed.js';
import type { LocalEnd, LocalEnds } from './local-end.js';
import type { AccountRates, Metered } from './rates.js';

/** Beyond the rates, and while the quota is used up, datagrams are dropped. */
export interface DatagramRelayOptions extends Metered {
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

/** Counters of one association; readable after it is closed. */
export interface DatagramCounts {
  readonly datagramsUp: number;
  readonly datagramsDown: number;
  /** Dropped because the datagram with its header is too large, or because there is no socket of its family. */
  readonly unsendable: number;
  /** Dropped by the account's rates. */
  readonly overRate: number;
}

/** The sockets of an association: one for the client, and one outbound for each family, opened when first needed. */
export interface DatagramRelay {
  /** The local address of the client side. */
  readonly local: Endpoint;
  readonly counts: DatagramCounts;
  /** Sets the client's address: datagrams from it may use routes, and datagrams to the client go there. */
  setClient(client: Endpoint): void;
  /** Standalone datagrams of the client whose SOCKS header is `header` go to `to`. */
  setRoute(header: Buffer, to: Endpoint): void;
  removeRoute(header: Buffer): void;
  /** Datagrams from `from` go to the client, behind the SOCKS header `header`. */
  setSource(from: Endpoint, header: Buffer): void;
  removeSource(from: Endpoint): void;
  /** While true, no datagram of the client uses a route: the association receives all. */
  watchClient(watch: boolean): void;
  /** Sends the data after `offset` in `datagram` to a destination. */
  sendOutside(datagram: Buffer, offset: number, to: Endpoint): void;
  /** The port from which datagrams to `address` leave; a system error code when no socket of its family can be opened. */
  outsidePort(address: string): number | string;
  /** Opens a socket for the relay of an upstream proxy; null when no port or file descriptor is free. */
  openUpstream(options: UpstreamSocketOptions): UpstreamSocket | null;
  /** Sends `data` to the client; does nothing before `setClient`. */
  sendToClient(header: Buffer, data: Buffer): void;
  setRates(rates: AccountRates | null): void;
  /** Closes the sockets; no callback follows. Further calls do nothing. */
  close(): void;
  /** Its sockets but those for upstream proxies. The relay can go on. Left out: the engine cannot hand them over. */
  handOver?(): Handed<HandedDatagrams>;
}

export interface UpstreamSocketOptions {
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

/** `code` is a system error code such as EADDRINUSE (no port of the range is free) or EMFILE. */
export type OpenedRelay =
  | { readonly ok: true; readonly relay: DatagramRelay }
  | { readonly ok: false; readonly code: string };

/** Opens the client side and calls `onOpen` once, possibly before it returns. */
export type OpenDatagrams = (options: DatagramRelayOptions, onOpen: (opened: OpenedRelay) => void) => void;
