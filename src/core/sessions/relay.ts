// What a relay engine is: it moves bytes between a client and a destination until both directions are done.
// Called by socks/ once the success reply has been written. Bytes that came after the SOCKS request are simply
// unshifted onto `client`: the engine relays them and counts them, and nothing that was read before.
// From the call on the sockets belong to the relay: others neither destroy them nor listen for their data;
// they call `end()`. The engine keeps no timers: whoever sweeps the sessions polls the counts and `isHalfClosed()`.
import type { Socket } from 'node:net';
import type { AccountRates } from './rate-limit.js';

/**
 * How a relay came to its end by itself: who closed first, who was reset (or failed in any other way), or
 * 'relay-failed' when the engine itself broke; 'ended' when `end()` was called, whose caller knows the reason.
 */
export type RelayEnd =
  | 'client-closed'
  | 'destination-closed'
  | 'client-reset'
  | 'destination-reset'
  | 'relay-failed'
  | 'ended';

export interface Relay {
  /** Bytes taken from the client so far; stays readable after the end. */
  bytesUp(): number;
  /** Bytes taken from the destination so far; stays readable after the end. */
  bytesDown(): number;
  /** True while one direction has ended and the other has not. */
  isHalfClosed(): boolean;
  /** Destroys both sockets, whatever they still hold. Calling it twice, or after the end, does nothing. */
  end(): void;
  /** From now on, or within a moment, the flow moves at the account's rates. */
  limitRates(rates: AccountRates): void;
}

export interface RelayOptions {
  /** Called once, after both sockets are closed, and never before the engine has returned. */
  readonly onEnd: (end: RelayEnd) => void;
  /** Sees the first client bytes of the flow, chunk by chunk, until it returns false. Never alters them. */
  readonly inspect?: ((chunk: Buffer) => boolean) | undefined;
  /** The rates that the flow shares with the account's others; none when the account has no such limit. */
  readonly rates?: AccountRates | undefined;
}

/** Both sockets are connected, have `allowHalfOpen`, carry no other `data` or `end` listeners, and are paused. */
export type RelayEngine = (client: Socket, destination: Socket, options: RelayOptions) => Relay;
