// The settings of a worker, from the configuration. Plain data, because it is sent to another thread.
import type { Refusable } from '../core/accounts/access/login.js';
import type { Account } from '../core/accounts/account.js';
import type { ClassGuard, GuardLimits, Suspension } from '../core/accounts/usage/guard.js';
import type { PortRange } from '../core/addresses/endpoints.js';
import type { EgressOptions } from '../core/egress/egress.js';
import type { HeadLimits } from './protocols/http/head.js';
import type { UpstreamRule } from './upstreams/rules.js';

/** The rules of one egress policy, as in the configuration; a class without the last two has those of all accounts. */
export type EgressLists = Pick<EgressOptions, 'private' | 'allow' | 'deny' | 'denyPorts' | 'bittorrent'>;

export interface UdpSettings {
  readonly enabled: boolean;
  /** First and last port for sockets of associations; null: the system chooses. */
  readonly portRange: PortRange | null;
  /** Advertised addresses (BND.ADDR), at most one of each family; none: the local address of the TCP connection. */
  readonly publicAddresses: readonly string[];
  /** An association without datagrams in either direction for this time ends. In ms. */
  readonly idleTimeoutMs: number;
  /** The same for an association that has asked one DNS question and has the answer. */
  readonly dnsIdleTimeoutMs: number;
  /** Whether the client receives datagrams from addresses that it has not sent to (RFC 4787 §5, endpoint-independent filtering). */
  readonly fullCone: boolean;
  /** Maximum number of destinations of one association; the least recently used is dropped. */
  readonly maxDestinations: number;
  /** Maximum number of destinations of one association that are recorded for traces. */
  readonly recordedDestinations: number;
  /** Maximum number of queued datagrams of one association while it connects to an upstream proxy; more are dropped. */
  readonly maxWaitingForUpstream: number;
  /** Memory limit for incomplete fragments of all associations, in bytes. */
  readonly fragmentMemoryBytes: number;
  /** Maximum number of concurrent associations of one account; then the one that was idle longest makes room. */
  readonly maxAssociationsPerAccount: number;
  /**
   * Maximum number of decisions per second (new destination, unknown sender, fragment) over all associations of one account,
   * for its clients and for others separately; more datagrams are dropped. Known destinations need no decision.
   */
  readonly maxDecisionsPerSecond: number;
}

export interface BindSettings extends Pick<UdpSettings, 'enabled' | 'portRange' | 'publicAddresses'> {
  /** How long BIND waits for its peer, in ms. */
  readonly timeoutMs: number;
}

export interface ProxySettings {
  readonly handshakeTimeoutMs: number;
  /** Time limit for connecting, over all addresses of a destination, in ms. */
  readonly connectTimeoutMs: number;
  /** A session without a byte in either direction for this time ends. In ms. */
  readonly idleTimeoutMs: number;
  /** A session with one closed direction and no byte in the other for this time ends. In ms. */
  readonly halfCloseTimeoutMs: number;
  /** Maximum number of connections over all workers, including handshakes. */
  readonly maxConnections: number;
  /** Maximum number of places of sessions (places.ts) of one account, and of one source; null: no limit. */
  readonly maxConnectionsPerAccount: number | null;
  readonly maxConnectionsPerSource: number | null;
  /** Maximum number of connections without a complete request, in total and per source. */
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
  readonly egressClasses: Readonly<Record<string, EgressLists & { readonly guard: ClassGuard }>>;
  /** What one account may open; a connection that would wait for longer than `maxWaitMs` is refused. */
  readonly guard: {
    readonly limits: GuardLimits;
    readonly maxWaitMs: number;
    readonly suspend: Suspension;
  };
  /** Whether destination names may contain underscores. */
  readonly allowUnderscore: boolean;
  /** Minimum time between two reports of a session's GameIDs, in ms. */
  readonly gameIntervalMs: number;
  /** Of requests to the HTTP proxy. */
  readonly http: HeadLimits;
  readonly udp: UdpSettings;
  readonly bind: BindSettings;
  readonly upstreams: readonly UpstreamRule[];
  /** Of the ways out of exits; an interval of 0: none. */
  readonly exitChecks: { readonly intervalMs: number; readonly timeoutMs: number };
  /** Names of exits that clients may choose by a suffix of the user name (`alice+jp`); none: off. */
  readonly exitSuffix: readonly string[];
}

/** The account data that a worker needs. */
export interface AccountRecord
  extends Refusable,
    Pick<Account, 'id' | 'username' | 'passwordHash' | 'passwordVersion' | 'link'>,
    Pick<Account, 'limits' | 'exit' | 'owner' | 'authorizedAddresses'> {
  /** Bytes that are left of the quota, when `quotaCounted` bytes of its sessions had been counted; null: no quota. */
  readonly quotaLeft: number | null;
  /** What the control plane has counted of the account's sessions in its present worker. `PlaneAccounts` sets it. */
  readonly quotaCounted: number;
  /** The account has a limit of sessions or addresses, and there are other nodes: each session needs a permit. */
  readonly needsPermit: boolean;
  /** Number of other nodes where the account is active, to share its rate; up to a second old. */
  readonly otherNodes: number;
}
