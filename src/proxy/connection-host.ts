// The interface between a connection and its worker.
import type { ClientProtocolName } from '../core/sessions/session.js';
import type { Account } from './account.js';
import type { ConnectionContext } from './context.js';
import type { Handshakes } from './handshakes.js';
import type { Endpoint, Stream } from './io/io.js';
import type { Logins } from './logins.js';
import type { Permits } from './permits.js';
import type { ProxySources } from './protocols/proxy-header.js';
import type { RelayedHost } from './relayed.js';

/** Properties of a connection that its listener determines. */
export interface Arrival {
  /** Connections from `proxyProtocolFrom` begin with a PROXY header. */
  readonly hasProxyHeader: boolean;
  /** Connections come from the TLS thread of this process, whose PROXY header is trusted. */
  readonly isFromTls: boolean;
  readonly isUnix: boolean;
  readonly protocols: readonly ClientProtocolName[];
}

/** A connection whose first bytes another worker has read. */
export interface Resumed {
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly bytes: Buffer;
}

/** What the worker can do with a connection. */
export interface HostedConnection {
  readonly stream: Stream;
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly arrival: Arrival;
  /** Returns what another worker needs to continue the connection. The socket stays open, and this object must not be used any more. */
  handOver(): Buffer;
  /** Closes immediately, in every stage. */
  close(): void;
}

/** The connections of a worker that are not relayed; see connections.ts. */
export interface OpenConnections {
  /** Passes the connection to the worker of its account; false when this is that worker. */
  passOn(connection: HostedConnection, username: Uint8Array): boolean;
  /** The connection is closed. */
  closed(connection: HostedConnection): void;
  /** A relay has replaced the connection. */
  relayed(connection: HostedConnection): void;
}

/** What connections use of their worker. */
export interface ConnectionHost extends ConnectionContext, RelayedHost {
  readonly io: ConnectionContext['io'];
  readonly settings: ConnectionContext['settings'];
  readonly ownPorts: ConnectionContext['ownPorts'];
  readonly handshakes: Pick<Handshakes, 'add' | 'setSource' | 'delete'>;
  readonly logins: Logins;
  readonly permits: Pick<Permits, 'acquire'>;
  readonly connections: OpenConnections;
  /** Whether PROXY headers of this peer are trusted. */
  readonly isTrustedProxy: ProxySources;
  /** Whether the account has not been removed since its login. */
  isStillKnown(account: Account): boolean;
  date(): number;
}
