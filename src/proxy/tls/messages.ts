// The messages between the control plane and the TLS thread.
import type { ListenerSpec } from '../messages.js';
import type { ProxySettings } from '../plane-settings.js';

/** A certificate and its key, PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

/** Beyond `maxHandshakes`, in total and per source, the oldest is closed. */
export interface TlsThreadStart
  extends Pick<
    ProxySettings,
    'maxHandshakes' | 'maxHandshakesPerSource' | 'handshakeTimeoutMs' | 'maxConnections'
  > {
  /** Maximum number of new handshakes per second and source; more are closed. */
  readonly maxHandshakesPerSecond: number;
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
