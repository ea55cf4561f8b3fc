// What the control plane and the thread for TLS say to each other.

/** A certificate and its key, PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

export interface TlsThreadStart {
  /** Handshakes at once, in all and of one source; beyond that the one that has waited longest is closed. */
  readonly maxHandshakes: number;
  readonly maxHandshakesPerSource: number;
  /** Handshakes that one source may begin in a second; more are closed. */
  readonly maxHandshakesPerSecond: number;
  readonly handshakeTimeoutMs: number;
  /** Connections at once. */
  readonly maxConnections: number;
}

export interface TlsListenerSpec {
  readonly id: number;
  readonly host: string;
  readonly port: number;
  readonly isDualStack: boolean;
  /** The Unix socket of the data plane that its connections go on to. */
  readonly path: string;
  readonly material: TlsMaterial;
}

export type TlsMessage =
  | { readonly kind: 'listen'; readonly listener: TlsListenerSpec }
  | { readonly kind: 'material'; readonly id: number; readonly material: TlsMaterial }
  /** Stops accepting; open connections go on. */
  | { readonly kind: 'close'; readonly id: number };

export type TlsEvent =
  | { readonly kind: 'listening'; readonly id: number; readonly address: string; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly id: number; readonly code: string }
  | { readonly kind: 'refused'; readonly handshakes: number };
