// What the control plane hears of the data plane: one observer, called in order.
import type { LoginOutcome, SessionFacts, SessionSummary } from './messages.js';
import type { Destination, SessionEnd } from './session.js';

/** A live session as the control plane sees it. */
export interface RemoteSession extends SessionFacts {
  /** GUID. */
  readonly id: string;
  readonly protocol: 'tcp' | 'udp';
  /** Live, from shared memory; after the end, the final number. */
  bytesUp(): number;
  bytesDown(): number;
  /** Ends it; it is over when `closed` has been called. */
  end(reason: SessionEnd): void;
}

export interface ProxyObserver {
  sessionOpened(session: RemoteSession): void;
  /** An association sends to a destination it has not sent to before. */
  sessionDestination(session: RemoteSession, destination: Destination): void;
  sessionGame(session: RemoteSession, gameId: string): void;
  /** Its byte counts are final from then on. */
  sessionClosed(session: RemoteSession, summary: SessionSummary): void;
  /** `count` logins of one kind, the last of them `at` (ms since the epoch). */
  logins(
    outcome: LoginOutcome,
    username: string,
    accountId: string | null,
    client: string,
    count: number,
    at: number,
  ): void;
  /** An imported hash was right: `salted` is to be stored in its place, unless it is no longer `before`. */
  rehashed(accountId: string, before: string, salted: string): void;
}
