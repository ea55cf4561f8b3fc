// The interface of observers of sessions: their events, and the bytes that they transfer.
import type { Session, SessionSummary } from './session.js';

/** The events of a session, in order. */
export interface SessionEvents {
  opened(session: Session): void;
  /** A UDP association sends to a destination for the first time. */
  destinationChanged(session: Session): void;
  /** The `gameId` of the session was detected. */
  gameChanged(session: Session): void;
  closed(session: Session, summary: SessionSummary): void;
  /** Replaces `opened` and `closed` for a session that had ended when it was first reported. */
  passed(session: Session, summary: SessionSummary): void;
}

export interface SessionObserver extends SessionEvents {
  /** The bytes since the last call. Called once a second while the session transfers bytes, and before each other event of it. */
  traffic(session: Session, bytesUp: number, bytesDown: number): void;
  /** Called about once a second, when the traffic of all sessions has been published. */
  counted(): void;
}
