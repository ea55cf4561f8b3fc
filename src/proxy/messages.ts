// Every message between the control plane and the workers. Plain data; events are sent in batches, in order.
import type { LoginEntry } from '../core/accounts/access/login-log.js';
import type { GuardReason } from '../core/accounts/usage/guard.js';
import type { LimitRefusal } from '../core/accounts/usage/limits.js';
import type { Endpoint } from '../core/addresses/ip.js';
import type { Penalty } from '../core/auth/penalties.js';
import type { Exit, ProxyTls } from '../core/exits/exit.js';
import type { ExitTrial, ExitTrialRequest } from '../core/exits/exit-figures.js';
import type { GameRule } from '../core/heartbeats/game-rules.js';
import type {
  ClientProtocolName,
  DatagramDestination,
  Destination,
  Session,
  SessionEnd,
  SessionSummary,
} from '../core/sessions/session.js';
import type { GeoFiles } from '../geo.js';
import type { CapturedSession, HandedConnection } from './handover/state.js';
import type { Place } from './memory/account-memory.js';
import type { SharedMemory } from './memory/memory.js';
import type { ProxySettings } from './plane-settings.js';

/** Parameters of a new worker. What applies to every worker follows as messages, before its listeners. */
export interface WorkerStart {
  readonly index: number;
  readonly workers: number;
  readonly engine: 'native' | 'node';
  readonly settings: ProxySettings;
  readonly shared: SharedMemory;
}

/** A socket that the control plane, systemd or the worker itself listens on. */
export interface ListenerSpec {
  /** Identifies the listener in `listening` and `listen-failed`. */
  readonly id: number;
  /** A listening descriptor; null: the worker opens the socket. */
  readonly fd: number | null;
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  /** Permissions of the Unix socket. */
  readonly mode: number;
  /** Only for `::`: the socket accepts IPv4 too. */
  readonly isDualStack: boolean;
  /** Connections from `proxyProtocolFrom` begin with a PROXY header. */
  readonly hasProxyHeader: boolean;
  /** Connections come from the TLS thread of this process: all begin with a PROXY header, which is trusted. */
  readonly isFromTls: boolean;
  readonly protocols: readonly ClientProtocolName[];
}

/** To a worker: from the control plane, and (`adopt`, `evict-handshake`, `make-room`) from another worker. */
export type WorkerMessage =
  /** A part of the memory with all accounts (account-memory.ts); null: it is not needed any more. */
  | {
      readonly kind: 'account-chunk';
      readonly chunk: number;
      readonly memory: SharedArrayBuffer | null;
    }
  /** Where accounts are now, whose worker this may be or not. */
  | { readonly kind: 'accounts'; readonly places: readonly Place[] }
  | { readonly kind: 'account-removed'; readonly id: string }
  | { readonly kind: 'games'; readonly games: readonly GameRule[] }
  | { readonly kind: 'exits'; readonly exits: readonly Exit[] }
  /** Which ways out of exits work (waysOf), as all workers have found. */
  | { readonly kind: 'exit-ways'; readonly ways: ReadonlyMap<string, boolean> }
  /** Connects out through an exit and sends `request`; answered by `exit-tried`. */
  | ({ readonly kind: 'try-exit'; readonly token: number } & ExitTrialRequest)
  | { readonly kind: 'geo'; readonly files: GeoFiles }
  /** Identifies a session by its slot (session-counts.ts) and generation. */
  | {
      readonly kind: 'end-session';
      readonly slot: number;
      readonly generation: number;
      readonly reason: SessionEnd;
    }
  | { readonly kind: 'end-account'; readonly accountId: string; readonly reason: SessionEnd }
  /** Answers `permit-wanted`. `refusal` null: it is granted. */
  | { readonly kind: 'permit'; readonly token: number; readonly refusal: LimitRefusal | null }
  /** Ends the session of a permit: its account has too many sessions over all nodes. */
  | { readonly kind: 'revoke-permit'; readonly token: number }
  /** Penalties of other nodes. Every worker gets them: workers share the counts, and any of them may die. */
  | { readonly kind: 'penalties'; readonly penalties: readonly Penalty[] }
  | { readonly kind: 'end-all'; readonly reason: SessionEnd }
  | { readonly kind: 'listen'; readonly listener: ListenerSpec }
  | { readonly kind: 'refuse'; readonly isRefusing: boolean }
  /** Stops accepting, and after `handshakeMs` closes connections without a complete request. */
  | { readonly kind: 'drain'; readonly handshakeMs: number }
  /** Sends what waits; answered by `synced`. */
  | { readonly kind: 'sync'; readonly token: number }
  /** Asks for the destinations of connections with this local address and port; answered by `outbound`. */
  | {
      readonly kind: 'find-outbound';
      readonly token: number;
      readonly address: string;
      readonly port: number;
    }
  /** From another worker: a connection whose account belongs to this worker. */
  | { readonly kind: 'adopt'; readonly connection: PassedConnection }
  /**
   * From another worker that has exceeded the limit: ends the oldest handshake of this source, or of any source. A worker
   * without one passes the message to the next, at most `hops` times.
   */
  | { readonly kind: 'evict-handshake'; readonly source: string | null; readonly hops: number }
  /** From another worker that has taken a place too many: ends the longest idle session of the account with most. */
  | { readonly kind: 'make-room' }
  /** Keeps everything as it is, and reads nothing but messages; answered by `synced`. */
  | { readonly kind: 'freeze'; readonly token: number }
  /** Asks a frozen worker for what another process needs; answered by `captured`. */
  | { readonly kind: 'capture'; readonly token: number }
  /** Connections of another process; their descriptors are of this one. Messages like it follow at once, up to the last. */
  | {
      readonly kind: 'take-over';
      readonly connections: readonly HandedConnection[];
      /** See PlaneState. */
      readonly capturedAt: number;
      readonly isLast: boolean;
    }
  | { readonly kind: 'stop' };

/** A connection on its way to the worker of its account. */
export interface PassedConnection {
  readonly fd: number;
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly isUnix: boolean;
  readonly protocols: readonly ClientProtocolName[];
  /** What the client has sent, from its first byte to its login. The messages before the login have been answered. */
  readonly bytes: Uint8Array;
}

/** A session as its worker reports it. */
export interface SessionFacts
  extends Omit<Session, 'id' | 'protocol' | 'bytesUp' | 'bytesDown' | 'count' | 'end'> {
  /** Index of its byte counts, and a number that distinguishes it from earlier sessions in this slot. Live sessions have different slots. */
  readonly slot: number;
  readonly generation: number;
}

/** `count` equal logins, the last of them `at` (ms since the epoch). */
export interface LoginsEvent extends Omit<LoginEntry, 'times'> {
  readonly kind: 'logins';
  readonly count: number;
}

/** Since the last report, a limit or an egress rule has delayed or refused so many uses of an account, the last by `client`. */
export interface GuardEvent {
  readonly kind: 'guard';
  readonly accountId: string;
  readonly limit: GuardReason;
  readonly slowed: number;
  readonly refused: number;
  readonly client: string;
  /** So many were refused that the account is to be suspended. */
  readonly suspends: boolean;
}

/** A connection to an upstream proxy that gets TLS. Its descriptors belong to the receiver. */
export interface SecureRequest {
  readonly outside: number;
  /** One end of a Unix socket pair; see tls/client-thread.ts. */
  readonly inside: number;
  readonly tls: ProxyTls;
}

/** Worker to control plane. */
export type WorkerEvent =
  /** The worker is ready. Write to `wakeFd` after each message; -1: not needed. */
  | { readonly kind: 'started'; readonly wakeFd: number }
  | { readonly kind: 'listening'; readonly id: number; readonly address: string; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly id: number; readonly code: string }
  | { readonly kind: 'session-opened'; readonly session: SessionFacts }
  | { readonly kind: 'session-destination'; readonly slot: number; readonly destination: DatagramDestination }
  | { readonly kind: 'session-game'; readonly slot: number; readonly gameId: string }
  | {
      readonly kind: 'session-closed';
      readonly slot: number;
      readonly summary: SessionSummary;
      readonly destination: Destination;
      readonly via: string | null;
      readonly exit: string | null;
    }
  /** Opened and closed within one batch. */
  | { readonly kind: 'session-passed'; readonly session: SessionFacts; readonly summary: SessionSummary }
  /** Requests a permit for a session; answered by `permit`. The token is valid until `permit-released` or a refusal. */
  | {
      readonly kind: 'permit-wanted';
      readonly token: number;
      readonly accountId: string;
      readonly client: string;
    }
  /** The same for a session that is already open: it counts, and there is no answer. */
  | {
      readonly kind: 'permit-held';
      readonly token: number;
      readonly accountId: string;
      readonly client: string;
    }
  | { readonly kind: 'permit-released'; readonly token: number }
  /** Too many logins of a source have failed: the other nodes must refuse it too. */
  | { readonly kind: 'penalty'; readonly penalty: Penalty }
  | ({ readonly kind: 'secure' } & SecureRequest)
  /** A name is to be looked up, and the worker is not connected to a resolver yet. */
  | { readonly kind: 'resolver-wanted' }
  | LoginsEvent
  | GuardEvent
  /** A login with an imported hash succeeded: store the salted hash of the same password. */
  | {
      readonly kind: 'rehashed';
      readonly accountId: string;
      readonly before: string;
      readonly salted: string;
    }
  | {
      readonly kind: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    }
  | { readonly kind: 'synced'; readonly token: number }
  | {
      readonly kind: 'captured';
      readonly token: number;
      readonly connections: readonly HandedConnection<CapturedSession>[];
    }
  | {
      readonly kind: 'outbound';
      readonly token: number;
      readonly remotes: readonly Endpoint[];
    }
  /** A way out of an exit (waysOf) works, or does not, for this reason. */
  | { readonly kind: 'exit-way'; readonly way: string; readonly isUp: boolean; readonly reason: string }
  /** So many connections by an exit have failed since the last report. */
  | { readonly kind: 'exit-failed'; readonly exit: string; readonly count: number }
  | { readonly kind: 'exit-tried'; readonly token: number; readonly trial: ExitTrial }
  /** Number of log lines that were dropped because the control plane was behind. */
  | { readonly kind: 'dropped'; readonly lines: number };
