// What a worker is given of the configuration: plain data, as it crosses a thread border.

import type { AccountLimits } from '../core/accounts/limits.js';
import type { GameRule } from '../core/heartbeats/game-rules.js';
import type { HeadLimits } from './protocols/http/head.js';
import type { UpstreamRule } from './upstreams/rules.js';

/** The lists of one egress policy, as in the configuration. */
export interface EgressLists {
  readonly private: 'deny' | 'allow';
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface UdpSettings {
  readonly enabled: boolean;
  /** First and last port that sockets of associations may have; null leaves it to the system. */
  readonly portRange: readonly [number, number] | null;
  /** Addresses that clients are to send to, at most one address a family; none: the address their TCP connection came to. */
  readonly publicAddresses: readonly string[];
  /** An association without a datagram either way for this long is ended. */
  readonly idleTimeoutMs: number;
  /** Whether datagrams from where the client never sent to reach it (RFC 4787 §5, endpoint-independent filtering). */
  readonly fullCone: boolean;
  /** Destinations that one association remembers; beyond that the one unused for longest is forgotten. */
  readonly maxDestinations: number;
  /** Datagrams of one association that wait while an upstream proxy is asked; more are dropped. */
  readonly maxWaitingForUpstream: number;
  /** Bytes that may wait in unfinished sequences of fragments, over all associations of the worker. */
  readonly fragmentMemoryBytes: number;
  /** Associations of one account at once, unless its own limits say less. */
  readonly maxAssociationsPerAccount: number;
  /**
   * Datagrams a second of one account that need a decision (a new destination, an unknown sender, a fragment), over all
   * its associations, from its clients and from others each; more are dropped. What is settled moves without one.
   */
  readonly maxDecisionsPerSecond: number;
}

export interface BindSettings {
  readonly enabled: boolean;
  readonly portRange: readonly [number, number] | null;
  readonly publicAddresses: readonly string[];
  /** How long the peer is waited for. */
  readonly timeoutMs: number;
}

export interface ProxySettings {
  readonly handshakeTimeoutMs: number;
  /** For all addresses of a destination together. */
  readonly connectTimeoutMs: number;
  /** A session without a byte either way for this long is ended. */
  readonly idleTimeoutMs: number;
  /** A session with one direction closed and no byte in the other for this long is ended. */
  readonly halfCloseTimeoutMs: number;
  /** Connections at once over all workers, handshakes included. */
  readonly maxConnections: number;
  /** Of those, how many may be without a request yet, in all and from one source. */
  readonly maxHandshakes: number;
  readonly maxHandshakesPerSource: number;
  readonly login: {
    readonly maxFailuresPerSource: number;
    readonly maxFailuresPerUser: number;
    readonly failureWindowMs: number;
    readonly maxSources: number;
  };
  readonly proxyProtocolFrom: readonly string[];
  /** IANA time zone of the schedules of accounts. */
  readonly timeZone: string;
  readonly egress: EgressLists;
  readonly egressClasses: Readonly<Record<string, EgressLists>>;
  /** Whether destination names may contain underscores. */
  readonly allowUnderscore: boolean;
  /** Time between two reports of a session's GameID at least, whichever GameIDs it has meanwhile. */
  readonly gameIntervalMs: number;
  /** Of requests to the HTTP proxy. */
  readonly http: HeadLimits;
  readonly udp: UdpSettings;
  readonly bind: BindSettings;
  readonly upstreams: readonly UpstreamRule[];
}

/** What a worker must know of an account. */
export interface AccountRecord {
  /** GUID. */
  readonly id: string;
  readonly username: string;
  readonly passwordHash: string;
  /** Another one: the password is another. The hash of the same password may change. */
  readonly passwordVersion: number;
  readonly isEnabled: boolean;
  /** Milliseconds since the Unix epoch; null: never. */
  readonly expiresAt: number | null;
  readonly limits: AccountLimits;
  /** Its quota is used up. */
  readonly isOverQuota: boolean;
  /** It has a limit of sessions or addresses, and other nodes have sessions too: each session needs a permit. */
  readonly needsPermit: boolean;
  /** How many other nodes it is active at, of an account whose rate is shared among them; as of the last second. */
  readonly otherNodes: number;
  /** Client addresses and networks that are the account without credentials. */
  readonly authorizedAddresses: readonly string[];
  /** Client addresses and networks from which it may log in; none: everywhere. */
  readonly allowedClients: readonly string[];
  /** The days and hours at which it may be used; null: always. */
  readonly schedule: string | null;
}

export type { GameRule };
