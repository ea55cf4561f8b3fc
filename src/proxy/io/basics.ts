// What both kinds of sockets, and rates, are described with.
import type { Timer } from '../../core/timers.js';

export type { Timer };

/** An IP address (IPv4-mapped ones as IPv4, a link-local one with its zone) and a port; '' and 0 for a Unix socket. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Monotonic time. */
export interface Clock {
  /** Milliseconds of a clock that is never set back. */
  now(): number;
  /** Calls back once, `delayMs` from now or a little later. */
  timer(delayMs: number, callback: () => void): Timer;
}
