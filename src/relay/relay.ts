// What a relay engine is: it moves bytes between a client and a destination until both directions are done.
import type { Socket } from 'node:net';

/** How a relay came to its end by itself; the caller of `end()` knows its own reason. */
export type RelayEnd = 'client-closed' | 'destination-closed' | 'client-reset' | 'destination-reset' | 'ended';

export interface Relay {
  /** Bytes taken from the client so far. */
  bytesUp(): number;
  /** Bytes taken from the destination so far. */
  bytesDown(): number;
  /** True once one direction has ended and the other has not. */
  isHalfClosed(): boolean;
  /** Destroys both sockets. */
  end(): void;
}

export interface RelayOptions {
  /** Called once, after both sockets are closed. */
  readonly onEnd: (end: RelayEnd) => void;
  /** Sees the first client bytes of the flow, chunk by chunk, until it returns false. Never alters them. */
  readonly inspect?: ((chunk: Buffer) => boolean) | undefined;
}

/** Both sockets are connected, have `allowHalfOpen`, carry no other `data` or `end` listeners, and are paused. */
export type RelayEngine = (client: Socket, destination: Socket, options: RelayOptions) => Relay;
