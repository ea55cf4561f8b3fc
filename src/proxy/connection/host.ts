// The interface between a connection and its worker. Everything is passed in: src/proxy uses no global state.
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { Endpoint, IpBytes } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import type { ClientProtocolName } from '../../core/sessions/session.js';
import type { Resolve } from '../dns/resolve.js';
import type { Stream } from '../io/io.js';
import type { Handshakes } from '../memory/handshakes.js';
import type { PlaceRefusal } from '../memory/places.js';
import type { ProxySettings } from '../plane-settings.js';
import type { FragmentMemory } from '../protocols/fragments.js';
import type { ProxySources } from '../protocols/proxy-header.js';
import type { Upstreams } from '../upstreams/rules.js';
import type { WorkerAccount } from '../worker/account.js';
import type { WorkerPermits } from '../worker/permits.js';
import type { SessionRequest, WorkerSession } from '../worker/session.js';
import type { Logins } from './logins.js';
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
  /** Handshakes take more than half of the places that are reserved for them. */
  readonly isNearlyFull: boolean;
  /** Passes the connection to the worker of its account; false when this is that worker. */
  passOn(connection: HostedConnection, username: Uint8Array): boolean;
  /** The connection is closed. */
  closed(connection: HostedConnection): void;
  /** A relay has replaced the connection. */
  relayed(connection: HostedConnection): void;
}

/** What connections use of their worker. */
export interface ConnectionHost extends RelayedHost {
  readonly settings: ProxySettings;
  /** Lines for the log; written by the control plane. */
  readonly log: Log;
  readonly handshakes: Pick<Handshakes, 'add' | 'addRefused' | 'setSource' | 'delete'>;
  readonly logins: Logins;
  readonly permits: Pick<WorkerPermits, 'acquire'>;
  readonly connections: OpenConnections;
  /** Whether PROXY headers of this peer are trusted. */
  readonly isTrustedProxy: ProxySources;
  /** Whether the account has not been removed since its login. */
  isStillKnown(account: WorkerAccount): boolean;
  /** The egress policy of an account; null when the configuration no longer has its egress class. */
  egressOf(account: WorkerAccount): EgressPolicy | null;
  readonly resolve: Resolve;
  readonly upstreams: Upstreams;
  /** A string: the limit that refuses the session. */
  openSession(request: SessionRequest): WorkerSession | PlaceRefusal;
  /** Ends the UDP association of an account that has been idle longest, when the account has as many as it may have. */
  makeRoomForAssociation(account: WorkerAccount): void;
  /** Whether an address (IPv4-mapped ones as IPv4) belongs to this machine. */
  isLocalAddress(ip: IpBytes): boolean;
  readonly fragmentMemory: FragmentMemory;
  /**
   * Counts a command that holds more descriptors than a CONNECT as one connection more. Returns how to release it,
   * or null when there is no room.
   */
  tryAcquireConnection(): (() => void) | null;
}
