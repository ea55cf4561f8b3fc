// What a connection is given by its worker: how it came, and what it may ask for.
import type { LimitRefusal } from '../core/accounts/limits.js';
import type { ClientProtocolName } from '../core/sessions/session.js';
import type { Account } from './account.js';
import type { ConnectionContext } from './context.js';
import type { Endpoint, Stream } from './io/io.js';
import type { PermitAnswer, PermitQuestion } from './permits.js';
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
  readonly isUnix: boolean;
  readonly protocols: readonly ClientProtocolName[];
  /** What another worker needs to go on from here; this connection is over without being closed. */
  handOver(): Buffer;
  /** Its handshake had to make room. */
  evict(): void;
  /** Closes at once, whatever the stage. */
  close(): void;
}

/** Who serves connections: the worker. */
export interface ConnectionHost extends ConnectionContext, RelayedHost {
  readonly io: ConnectionContext['io'];
  readonly settings: ConnectionContext['settings'];
  readonly ownPorts: ConnectionContext['ownPorts'];
  /** Checks a login, counts it, and reports it. Null: refused. */
  logIn(client: Endpoint, username: Uint8Array, password: Uint8Array): Account | null;
  /** The user name of the account that a client without credentials is, by its address; null: of none. */
  authorizedName(client: Endpoint): Uint8Array | null;
  /** The same as `logIn` for a client whose address is the account's. Null: refused. */
  logInByAddress(client: Endpoint, username: Uint8Array): Account | null;
  /** Counts and reports a client without credentials that is no account; `isAsked`: the refusal asks for credentials. */
  withoutCredentials(client: Endpoint, isAsked: boolean): void;
  /** A client that was asked for credentials has logged in. */
  gaveCredentials(client: Endpoint): void;
  /** Hands the connection to the worker that its account belongs to; false when it is this one. */
  passOn(connection: HostedConnection, username: Uint8Array): boolean;
  /** Why the account may have no further session from this address now; null: it may. Reports it. */
  refusal(account: Account, client: Endpoint): string | null;
  /** Reports that a login is refused for this reason. */
  refused(account: Account, client: Endpoint, reason: LimitRefusal): void;
  /** Asks for the permit of a session, of an account that needs one. `done` is called later, unless the question is cancelled. */
  acquirePermit(account: Account, client: Endpoint, done: (answer: PermitAnswer) => void): PermitQuestion;
  /** Whether PROXY headers of this peer are believed. */
  isTrustedProxy(peer: Endpoint): boolean;
  /** Whether the account has not been removed since its login. */
  isStillKnown(account: Account): boolean;
  /** Room for handshakes; false: there is none, and the connection is to be closed. */
  handshakeBegins(connection: HostedConnection, source: string | null): boolean;
  handshakeSource(connection: HostedConnection, source: string): boolean;
  handshakeEnds(connection: HostedConnection): void;
  /** The connection is closed. */
  connectionClosed(connection: HostedConnection): void;
  /** A relay has taken its place. */
  connectionRelayed(connection: HostedConnection): void;
  date(): number;
}
