// What the data plane asks of the system. Two drivers implement it, and both pass test/proxy/io/suite.ts:
// `native` (Linux, direct system calls in one synchronous loop) and `node` (node:net, node:dgram).
// No method throws for what the network or the system does: failures arrive as codes such as ECONNREFUSED or EMFILE.
import type { Endpoint, Timer } from './basics.js';
import type { DatagramEngine } from './datagrams.js';
import type { AccountRates } from './rates.js';

export type { Endpoint, Timer } from './basics.js';

/** What a stream reports. Nothing is reported from within a call of one of the stream's own methods. */
export interface StreamListener {
  /** Bytes arrived. `chunk` belongs to the driver and is overwritten after this call: copy what must last. */
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
  /** Data stays in the system's buffers; the end is not reported either. A failure still may be. */
  pause(): void;
  /** Sends bytes behind those written before. What the system does not take is kept: up to 64 KiB, then the stream fails. */
  write(bytes: Uint8Array): void;
  /** Something is kept that the system has not taken; `onDrain` follows. */
  readonly isBlocked: boolean;
  /** Sends FIN behind what was written. */
  shutdown(): void;
  /** Closes at once. No callback follows. Calling it again does nothing. */
  close(): void;
  /** Turns on TCP keepalive: first probe after 60 s without a packet. */
  keepAlive(): void;
}

/** Why a relay ended by itself. */
export type RelayEnd =
  | 'client-closed'
  | 'destination-closed'
  | 'client-reset'
  | 'destination-reset'
  | 'relay-failed';

export interface RelayOptions {
  readonly client: Stream;
  readonly destination: Stream;
  /** What the client sent before the relay began: goes to the destination first and counts as relayed. Owned by the relay. */
  readonly early: Buffer | null;
  /** Sees the client's bytes chunk by chunk (copy what must last) until it returns false; null: nobody does. */
  readonly inspect: ((chunk: Uint8Array) => boolean) | null;
  /** The rates that the account's sessions share; null: none. */
  readonly rates: AccountRates | null;
  /** Where the bytes are counted while they move, up at `countAt` and down at `countAt + 1`; counted before they are sent. */
  readonly counts: Float64Array;
  readonly countAt: number;
  readonly owner: RelayOwner;
}

export interface RelayOwner {
  /** The relay has ended by itself, and both streams are closed. Called once, and not after `close`. */
  relayEnded(end: RelayEnd): void;
}

/** Two streams joined: each one's data and FIN go to the other. It owns both streams and closes them. */
export interface Relay {
  /** One direction has ended and the other has not. */
  readonly isHalfClosed: boolean;
  /** Turns on TCP keepalive for both streams: first probe after 60 s without a packet. */
  keepAlive(): void;
  /** Moves at these rates from now on; null: as fast as both sides can. */
  setRates(rates: AccountRates | null): void;
  /** Closes both streams at once. */
  close(): void;
}

export interface Attempt {
  /** Gives up; neither callback is called from then on. */
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
}

export type ListenResult =
  | { readonly ok: true; readonly local: Endpoint; close(): void }
  | { readonly ok: false; readonly code: string };

/** A driver. One per worker. */
export interface Io {
  readonly name: 'native' | 'node';
  /** Milliseconds of a clock that is never set back. */
  now(): number;
  /** Calls back once, `delayMs` from now or up to 10 ms later. */
  timer(delayMs: number, callback: () => void): Timer;
  /** Connects to an IP address (a link-local one with its zone). The callback comes later, never before the return. */
  connect(to: Endpoint, listener: ConnectListener): Attempt;
  relay(options: RelayOptions): Relay;
  /** Opens a listening socket for one address family (IPv6 alone for an IPv6 address); the result may come later. */
  listen(options: ListenOptions, done: (result: ListenResult) => void): void;
  /** Accepts connections of a listening socket that somebody else made and owns. */
  acceptFrom(fd: number, onConnection: (stream: Stream) => void): { close(): void };
  /** Takes over a connected socket from another worker. */
  adopt(fd: number): Stream;
  /** Lets go of a stream without closing it, for another worker to adopt; its descriptor, or -1 where the driver cannot. */
  detach(stream: Stream): number;
  /** Opens the sockets of a UDP association. */
  readonly openDatagrams: DatagramEngine;
  /** The address of this machine that `address` would see as its peer's; null when there is no route. */
  sourceAddressFor(address: string, done: (source: string | null) => void): void;
}
