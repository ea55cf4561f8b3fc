// Types that streams, datagrams and rates share.
import type { Timer } from '../../core/timers.js';

export type { Timer };

/** An IP address (IPv4-mapped ones as IPv4, a link-local one with its zone) and a port; '' and 0 for a Unix socket. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Monotonic time. */
export interface Clock {
  /** Monotonic time in ms. */
  now(): number;
  /** Calls `callback` once, after `delayMs` or a little later. */
  timer(delayMs: number, callback: () => void): Timer;
}
