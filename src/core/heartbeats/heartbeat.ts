// Heartbeat entries. They contain only metadata: no payload is stored, and traffic is never altered.
import type { Protocol } from '../sessions/session.js';

export type HeartbeatKind = 'open' | 'beat' | 'game' | 'close';

/** One record of a live session of an account, and of the game that it plays. */
export interface Heartbeat {
  /** Milliseconds since the Unix epoch, UTC. */
  readonly at: number;
  readonly accountId: string;
  /** In entries read from the database: the current name of the account. */
  readonly username: string;
  /** GUID of the session. */
  readonly sessionId: string;
  /** Client address, no port. */
  readonly client: string;
  /** `host:port` as requested by the client. */
  readonly destination: string;
  readonly protocol: Protocol;
  /** Bytes client to destination since the session's previous entry. */
  readonly bytesUp: number;
  /** Bytes destination to client since the session's previous entry. */
  readonly bytesDown: number;
  readonly kind: HeartbeatKind;
  readonly gameId: string | null;
}

/** The totals of the entries of one account. */
export interface HeartbeatTotals {
  readonly accountId: string;
  /** Number of stored entries, after retention. */
  readonly count: number;
  /** GameID of the newest entry that has one. */
  readonly latestGameId: string | null;
}

/** How long entries are kept: whichever of the two limits is reached first. */
export interface HeartbeatRetention {
  readonly maxAgeMs: number;
  readonly maxPerAccount: number;
}
