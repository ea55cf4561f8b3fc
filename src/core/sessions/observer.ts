// What can be followed of the sessions: their events, and the bytes that they move.
import type { Session, SessionSummary } from './session.js';

/** What becomes of a session, in this order. */
export interface SessionEvents {
  opened(session: Session): void;
  /** An association sends to a destination that it has not sent to before. */
  destinationChanged(session: Session): void;
  /** The session plays its `gameId`. */
  gameChanged(session: Session): void;
  closed(session: Session, summary: SessionSummary): void;
  /** In place of `opened` and `closed`, of a session that was over when it was first heard of. */
  passed(session: Session, summary: SessionSummary): void;
}

export interface SessionObserver extends SessionEvents {
  /** Bytes since the last call: once a second while they move, and before each other event of the session. */
  traffic(session: Session, bytesUp: number, bytesDown: number): void;
  /** The traffic of all sessions has been published. About once a second. */
  counted(): void;
}
