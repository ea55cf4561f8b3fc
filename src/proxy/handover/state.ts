// What a data plane hands to its successor in another process: plain data, written field by field, and the open descriptors that it
// names. The successor may be a later program: whoever changes the meaning of a field raises the version, and keeps a reader of
// the version before.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { Exit } from '../../core/exits/exit.js';
import type { GameRule } from '../../core/heartbeats/game-rules.js';
import type { ClientProtocolName, DatagramDestination, Session } from '../../core/sessions/session.js';
import type { HandedDatagrams, HandedPair } from '../io/handed.js';
import { packAccount } from '../memory/packed-account.js';
import type { AccountRecord } from '../plane-settings.js';

export const PLANE_STATE_VERSION = 2;

export interface PlaneHandover {
  readonly state: PlaneState;
  /** Open descriptors. The state names each by its index. */
  readonly descriptors: readonly number[];
}

export interface PlaneState {
  readonly version: typeof PLANE_STATE_VERSION;
  /** Number of sessions. Every version has it. */
  readonly sessions: number;
  /** When it was captured, in ms of the system's monotonic clock. */
  readonly capturedAt: number;
  /**
   * Answer logins until the successor has read its database. What is left of a quota is exact. Packed (packed-account.ts), one after
   * another, in base64.
   */
  accounts: string;
  readonly games: readonly GameRule[];
  readonly exits: readonly Exit[];
  /** Which ways out of exits work. */
  readonly exitWays: readonly (readonly [way: string, isUp: boolean])[];
  /** An operator has drained the node. */
  readonly isRefusing: boolean;
  readonly connections: HandedConnection[];
}

/** The system's monotonic clock, which is the same in every process and thread, in ms. */
export const systemMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** A session of the registry. */
export interface HandedSession extends Omit<Session, 'protocol' | 'count' | 'end'> {
  /** Its account was found by the client's address. */
  readonly isByAddress: boolean;
  /** Of the link by whose password it was logged in; null: otherwise. */
  readonly linkHash: string | null;
  /** Time from its request to the capture, in ms. */
  readonly ageMs: number;
}

/** The session as it is now: the pause since the capture is part of its time. */
export const agedSince = (capturedAt: number, session: HandedSession): HandedSession => ({
  ...session,
  ageMs: session.ageMs + Math.max(0, systemMs() - capturedAt),
});

/** The part that its worker knows of a session: the control plane adds the rest. */
export interface CapturedSession
  extends Pick<HandedSession, 'isByAddress' | 'linkHash' | 'ageMs' | 'gameId'> {
  readonly slot: number;
}

export interface HandedRelay<Of> {
  readonly kind: 'relay';
  readonly session: Of;
  /** Client, destination. */
  readonly descriptors: readonly number[];
  readonly pair: HandedPair;
  readonly outboundPort: number;
  readonly idleMs: number;
}

/** A destination of an association that is reached directly. */
export interface HandedDestination {
  /** As the client writes it in front of datagrams, in base64. */
  readonly header: string;
  readonly host: string;
  readonly isName: boolean;
  readonly to: Endpoint;
}

export interface HandedAssociation<Of> {
  readonly kind: 'association';
  readonly session: Of;
  /** The client's connection, then the UDP sockets: towards the client, and of each family of `datagrams`. */
  readonly descriptors: readonly number[];
  readonly datagrams: HandedDatagrams;
  /** From where the client sends; null: it has not sent yet. */
  readonly lockedTo: Endpoint | null;
  readonly clientAddress: string;
  readonly declaredAddress: string | null;
  readonly exit: string | null;
  /** Least recently used first. */
  readonly destinations: readonly HandedDestination[];
  /** Those that are recorded for traces. */
  readonly recorded: readonly DatagramDestination[];
  readonly dropped: Readonly<Record<string, number>>;
  readonly isOnlyDns: boolean;
  readonly idleMs: number;
}

/** A connection whose request is not complete, is being carried out, or whose BIND waits: it is read again from its first byte. */
export interface HandedRequest {
  readonly kind: 'request';
  /** The client, and the listening socket of a BIND. */
  readonly descriptors: readonly number[];
  readonly arrival: {
    readonly hasProxyHeader: boolean;
    readonly isFromTls: boolean;
    readonly isUnix: boolean;
    readonly protocols: readonly ClientProtocolName[];
  };
  /** From the PROXY header if there was one; null: it is not complete. */
  readonly client: Endpoint | null;
  readonly isProxied: boolean;
  /** What the client has sent since its first byte, or since the PROXY header, in base64. */
  readonly bytes: string;
  /** What it has not been sent yet, in base64. */
  readonly unsent: string;
  /** The greeting of SOCKS5 has been answered. */
  readonly isGreeted: boolean;
  /** Null: it has not logged in. */
  readonly login: HandedLogin | null;
  /** Of a BIND that has got its first reply; null: none. */
  readonly bind: HandedBind | null;
}

export interface HandedLogin {
  readonly accountId: string;
  readonly username: string;
  /** That the client has chosen. */
  readonly exit: string | null;
  readonly isByAddress: boolean;
  readonly linkHash: string | null;
}

export interface HandedBind {
  /** Addresses of the peer; null: every address that the egress rules permit. */
  readonly expected: readonly string[] | null;
  readonly leftMs: number;
}

/** A session that cannot continue: the successor reports its end. */
export interface LostSession<Of> {
  readonly kind: 'lost';
  readonly session: Of;
  readonly descriptors: readonly [];
}

export type HandedConnection<Of = HandedSession> =
  | HandedRelay<Of>
  | HandedAssociation<Of>
  | HandedRequest
  | LostSession<Of>;

/** Reads what `PlaneHandover.state` was written as, in JSON. `sessions`: how many end because this program cannot read it. */
export function readPlaneState(
  written: unknown,
):
  | { readonly ok: true; readonly state: PlaneState }
  | { readonly ok: false; readonly reason: string; readonly sessions: number } {
  const state: { readonly version?: unknown; readonly sessions?: unknown } =
    typeof written === 'object' && written !== null ? written : {};
  if (state.version === PLANE_STATE_VERSION) return { ok: true, state: state as PlaneState };
  if (state.version === 1) return { ok: true, state: ofVersion1(written as PlaneStateOf1) };
  const sessions = typeof state.sessions === 'number' ? state.sessions : 0;
  const reason = `state of version ${JSON.stringify(state.version)}; this program reads ${PLANE_STATE_VERSION}`;
  return { ok: false, reason, sessions };
}

/** Version 1 had the accounts as they are. */
type PlaneStateOf1 = Omit<PlaneState, 'version' | 'accounts'> & { readonly accounts: AccountRecord[] };

function ofVersion1({ accounts, ...state }: PlaneStateOf1): PlaneState {
  const packed = Buffer.concat(accounts.map(packAccount)).toString('base64');
  return { ...state, version: PLANE_STATE_VERSION, accounts: packed };
}
