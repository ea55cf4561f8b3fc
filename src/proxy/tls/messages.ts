// The messages between the control plane and the TLS thread.
import type { ListenerSpec } from '../messages.js';

/** A certificate and its key, PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

export interface TlsThreadStart {
  /** Maximum number of concurrent handshakes, in total and per source; beyond that the oldest is closed. */
  readonly maxHandshakes: number;
  readonly maxHandshakesPerSource: number;
  /** Maximum number of new handshakes per second and source; more are closed. */
  readonly maxHandshakesPerSecond: number;
  readonly handshakeTimeoutMs: number;
  readonly maxConnections: number;
}

/** The thread closes `fd`; null: it opens the socket. */
export interface TlsListenerSpec extends Pick<ListenerSpec, 'id' | 'fd' | 'host' | 'port' | 'isDualStack'> {
  /** The Unix socket of the data plane to which connections are forwarded. */
  readonly path: string;
  readonly material: TlsMaterial;
}

export type TlsMessage =
  | { readonly kind: 'listen'; readonly listener: TlsListenerSpec }
  | { readonly kind: 'material'; readonly id: number; readonly material: TlsMaterial }
  /** Stops accepting; open connections continue. */
  | { readonly kind: 'close'; readonly id: number };

export type TlsEvent =
  | { readonly kind: 'listening'; readonly id: number; readonly address: string; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly id: number; readonly code: string }
  | { readonly kind: 'refused'; readonly handshakes: number };
