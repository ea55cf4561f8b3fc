// What a heartbeat data entry is. Only metadata: no payload is stored, and traffic is never altered.
import type { Protocol } from '../sessions/session.js';

export type HeartbeatKind = 'open' | 'beat' | 'game' | 'close';

/** One observation that an account's session is alive, and which game it plays. */
export interface Heartbeat {
  /** Milliseconds since the Unix epoch, UTC. */
  readonly at: number;
  readonly accountId: string;
  /** In an entry that was read: the name that the account has now. */
  readonly username: string;
  /** GUID of the session. */
  readonly sessionId: string;
  /** Client address, no port. */
  readonly client: string;
  /** `host:port` as the client asked for it. */
  readonly destination: string;
  readonly protocol: Protocol;
  /** Bytes client to destination since the session's previous entry. */
  readonly bytesUp: number;
  /** Bytes destination to client since the session's previous entry. */
  readonly bytesDown: number;
  readonly kind: HeartbeatKind;
  readonly gameId: string | null;
}

/** What the pool knows of one account without reading its entries. */
export interface HeartbeatTotals {
  readonly accountId: string;
  /** Entries now in the pool, after retention. */
  readonly count: number;
  /** GameID of the newest entry that has one. */
  readonly latestGameId: string | null;
}

/** How long entries are kept: whichever of the two limits is reached first. */
export interface HeartbeatRetention {
  readonly maxAgeMs: number;
  readonly maxPerAccount: number;
}
