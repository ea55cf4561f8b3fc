// What a connection is given by its worker: how it came, and what it may ask for.
import type { ClientProtocolName } from '../core/sessions/session.js';
import type { Account } from './account.js';
import type { ConnectionContext } from './context.js';
import type { Handshakes } from './handshakes.js';
import type { Endpoint, Stream } from './io/io.js';
import type { Logins } from './logins.js';
import type { Permits } from './permits.js';
import type { ProxySources } from './protocols/proxy-header.js';
import type { RelayedHost } from './relayed.js';

/** What is known of a connection by the listener it came to. */
export interface Arrival {
  /** Connections from `proxyProtocolFrom` begin with a PROXY header. */
  readonly hasProxyHeader: boolean;
  /** Connections come from our own thread for TLS, whose PROXY header is believed. */
  readonly isFromTls: boolean;
  readonly isUnix: boolean;
  readonly protocols: readonly ClientProtocolName[];
}

/** A connection that another worker has read so far. */
export interface Resumed {
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly bytes: Buffer;
}

/** A connection as its worker has it. */
export interface HostedConnection {
  readonly stream: Stream;
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly arrival: Arrival;
  /** What another worker needs to go on from here; this connection is over without being closed. */
  handOver(): Buffer;
  /** Its handshake had to make room. */
  evict(): void;
  /** Closes at once, whatever the stage. */
  close(): void;
}

/** The connections of a worker that are not relayed; see connections.ts. */
export interface OpenConnections {
  /** Hands the connection to the worker that its account belongs to; false when it is this one. */
  passOn(connection: HostedConnection, username: Uint8Array): boolean;
  /** The connection is closed. */
  closed(connection: HostedConnection): void;
  /** A relay has taken its place. */
  relayed(connection: HostedConnection): void;
}

/** Who serves connections: the worker. */
export interface ConnectionHost extends ConnectionContext, RelayedHost {
  readonly io: ConnectionContext['io'];
  readonly settings: ConnectionContext['settings'];
  readonly ownPorts: ConnectionContext['ownPorts'];
  readonly handshakes: Pick<Handshakes, 'add' | 'setSource' | 'delete'>;
  readonly logins: Logins;
  readonly permits: Pick<Permits, 'acquire'>;
  readonly connections: OpenConnections;
  /** Whether PROXY headers of this peer are believed. */
  readonly isTrustedProxy: ProxySources;
  /** Whether the account has not been removed since its login. */
  isStillKnown(account: Account): boolean;
  date(): number;
}
