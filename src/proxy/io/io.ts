// The system interface of the data plane. Two engines implement it, and both pass test/proxy/io/suite.ts:
// `native` (Linux, direct system calls in one synchronous loop) and `node` (node:net, node:dgram).
// No method throws for what the network or the system does: failures arrive as codes such as ECONNREFUSED or EMFILE.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { FlowInspector } from '../../core/egress/bittorrent.js';
import type { ProxyTls } from '../../core/exits/exit.js';
import type { ListenerSpec } from '../messages.js';
import type { OpenDatagrams } from './datagrams.js';
import type { Handed, HandedPair } from './handed.js';
import type { LocalEnd } from './local-end.js';
import type { AccountRates, EngineClock, Meter } from './rates.js';

const KEEPALIVE_IDLE_S = 60;
const KEEPALIVE_SPREAD_S = 30;
/** How long connection `n` has no packet before its first TCP keepalive probe. Thousands sent in one instant would be dropped by queues. */
export const keepAliveIdleS = (n: number): number => KEEPALIVE_IDLE_S - (n % KEEPALIVE_SPREAD_S);

/** What a stream reports. Nothing is reported from within a call of one of the stream's own methods. */
export interface StreamListener {
  /** Bytes arrived. `chunk` belongs to the engine and is overwritten after this call: copy what must last. */
  onData(chunk: Buffer): void;
  /** The peer sent FIN; no data follows. The stream still takes writes. */
  onEnd(): void;
  /** The connection is gone (ECONNRESET, EPIPE, ETIMEDOUT): the stream has closed itself. Not called after `close`. */
  onFailed(code: string): void;
  /** What `write` had kept has been sent: the stream is no longer blocked. */
  onDrain?(): void;
}

/** One connected socket. It begins paused. */
export interface Stream {
  readonly peer: Endpoint;
  readonly local: Endpoint;
  /** The listener; may be replaced at any time. */
  listener: StreamListener;
  /** Starts or continues to report data. */
  resume(): void;
  /** Stops reading: data stays in the system's buffers, and `onEnd` is not called. `onFailed` still may be. */
  pause(): void;
  /** Sends bytes after earlier ones. Keeps up to 64 KiB that the system does not accept; beyond that the stream fails. */
  write(bytes: Uint8Array): void;
  /** Unsent bytes are kept; `onDrain` follows. */
  readonly isBlocked: boolean;
  /** Sends FIN after all written bytes. */
  shutdown(): void;
  /** Closes immediately. No callback follows. Further calls do nothing. */
  close(): void;
  /** Turns on TCP keepalive: first probe after 31 to 60 s without a packet. */
  keepAlive(): void;
}

export type RelayEnd =
  | 'client-closed'
  | 'destination-closed'
  | 'client-reset'
  | 'destination-reset'
  | 'relay-failed';

export interface RelayOptions {
  readonly meter: Meter;
  readonly client: Stream;
  readonly destination: Stream;
  /** What the client sent before the relay began: goes to the destination first and counts as relayed. The relay keeps it. */
  readonly early: Buffer | null;
  /**
   * Receives the client's bytes chunk by chunk (copy what must last) until it returns false; null: not needed. A chunk for which it
   * returns 'denied' is not forwarded.
   */
  readonly inspect: FlowInspector | null;
  readonly listener: RelayListener;
  /** Continues what another relay has handed over; its `early` is null. */
  readonly handed?: HandedPair;
}

export interface RelayListener {
  /** The relay has ended by itself, and both streams are closed. Called once, and not after `close`. */
  relayEnded(end: RelayEnd): void;
}

/** Forwards data and FIN between two streams, in both directions. Owns both streams and closes them. */
export interface Relay {
  /** One direction has ended and the other has not. */
  readonly isHalfClosed: boolean;
  /** Turns on TCP keepalive for both streams: first probe after 31 to 60 s without a packet. */
  keepAlive(): void;
  /** Sets new rates; null: no limit. */
  setRates(rates: AccountRates | null): void;
  /** Closes both streams immediately. */
  close(): void;
  /**
   * What another process needs to continue; null: the relay has ended. Nothing changes: the relay can go on too. Left out: it cannot
   * be handed over.
   */
  handOver?(): Handed<HandedPair> | null;
}

export interface Attempt {
  /** Cancels the attempt; no callback follows. */
  cancel(): void;
}

export interface ConnectListener {
  onConnected(stream: Stream): void;
  /** A system error code. */
  onFailed(code: string): void;
}

export interface ListenOptions {
  /** An IP address. */
  readonly address: string;
  /** 0: the system chooses. */
  readonly port: number;
  readonly onConnection: (stream: Stream) => void;
  /** Its address is `address`. Left out: as the system chooses. */
  readonly end?: LocalEnd | undefined;
  /** A listening socket that was handed over. */
  readonly fd?: number | undefined;
}

/** `fd`: its descriptor; left out: it cannot be handed over. */
export type ListenResult =
  | { readonly ok: true; readonly local: Endpoint; readonly fd?: number; close(): void }
  | { readonly ok: false; readonly code: string };

/** An engine. One per worker. */
export interface Io extends EngineClock {
  readonly name: 'native' | 'node';
  /** Connects to an IP address (a link-local one with its zone). The callback comes later, never before the return. */
  connect(to: Endpoint, listener: ConnectListener, end?: LocalEnd): Attempt;
  relay(options: RelayOptions): Relay;
  /** Opens a listening socket for one address family (IPv6 alone for an IPv6 address); the result may come later. */
  listen(options: ListenOptions, done: (result: ListenResult) => void): void;
  /** Makes a TLS handshake on a connected stream, which it takes over. `onFailed` gets what `secure` in tls/client.ts says. */
  secure(stream: Stream, tls: ProxyTls, listener: ConnectListener): Attempt;
  /** Accepts players: from the descriptor of `spec`, which the node engine closes, or from a socket that the node engine opens. */
  serve(
    spec: ListenerSpec,
    onConnection: (stream: Stream) => void,
    done: (result: ListenResult) => void,
  ): void;
  /** Adopts a connected socket from another worker. */
  adopt(fd: number): Stream;
  /** Detaches a stream without closing it, to pass it to another worker. Returns its descriptor; -1: the engine cannot. */
  detach(stream: Stream): number;
  /** The descriptor of a stream and what `write` has kept. The stream can go on. Left out: the engine cannot hand over connections. */
  readonly handOver?: (stream: Stream) => Handed<Buffer | null>;
  /** Opens the sockets of a UDP association. */
  readonly openDatagrams: OpenDatagrams;
  /**
   * The local address that a connection to `address` would use; null when there is no route.
   * @param end whose interface and mark the route depends on
   */
  sourceAddressFor(address: string, done: (source: string | null) => void, end?: LocalEnd): void;
}
