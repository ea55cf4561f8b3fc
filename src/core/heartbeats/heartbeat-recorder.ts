// Records heartbeat entries: when a session opens and closes, once per interval while it transfers bytes, and for a detected game. A
// session that has ended when it is reported gets only a `close` entry.
import type { Clock } from '../clock.js';
import { formatHostPort } from '../ip.js';
import type { SessionObserver } from '../sessions/observer.js';
import type { Session } from '../sessions/session.js';
import type { HeartbeatKind } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';

export interface RecorderOptions {
  readonly pool: Pick<HeartbeatPool, 'record'>;
  /** Time between two `beat` entries of a session whose bytes move. */
  readonly intervalMs: number;
  readonly now: Clock;
}

/** What the recorder remembers of an open session. */
interface Watched {
  readonly session: Session;
  lastEntryAt: number;
  /** Bytes since the last entry. */
  bytesUp: number;
  bytesDown: number;
}

/** Makes entries of the sessions that it observes. */
export function createRecorder({
  pool,
  intervalMs,
  now,
}: RecorderOptions): Omit<SessionObserver, 'destinationChanged'> {
  const open = new Map<Session, Watched>();
  /** Those whose bytes have moved since their last entry. */
  const moved = new Set<Watched>();

  function record(watched: Watched, kind: HeartbeatKind, at: number): void {
    const { session, bytesUp, bytesDown } = watched;
    pool.record({
      at,
      accountId: session.accountId,
      username: session.username,
      sessionId: session.id,
      client: session.client.address,
      destination: formatHostPort(session.destination.host, session.destination.port),
      protocol: session.protocol,
      bytesUp,
      bytesDown,
      kind,
      gameId: session.gameId,
    });
    watched.bytesUp = 0;
    watched.bytesDown = 0;
    watched.lastEntryAt = at;
    moved.delete(watched);
  }

  function beatIfDue(watched: Watched, at: number): void {
    // After the clock was set back, continue at once instead of waiting for the old time.
    if (at < watched.lastEntryAt) watched.lastEntryAt = at;
    if (at - watched.lastEntryAt >= intervalMs) record(watched, 'beat', at);
  }

  const watch = (session: Session, at: number, bytesUp: number, bytesDown: number): Watched => ({
    session,
    lastEntryAt: at,
    bytesUp,
    bytesDown,
  });

  return {
    opened(session) {
      const at = now();
      const watched = watch(session, at, 0, 0);
      open.set(session, watched);
      record(watched, 'open', at);
    },

    /** One entry stands for all of it. */
    passed(session) {
      const at = now();
      record(watch(session, at, session.bytesUp, session.bytesDown), 'close', at);
    },

    traffic(session, bytesUp, bytesDown) {
      const watched = open.get(session);
      if (!watched) return;
      watched.bytesUp += bytesUp;
      watched.bytesDown += bytesDown;
      moved.add(watched);
    },

    gameChanged(session) {
      const watched = open.get(session);
      if (watched) record(watched, 'game', now());
    },

    counted() {
      const at = now();
      for (const watched of moved) beatIfDue(watched, at);
    },

    closed(session) {
      const watched = open.get(session);
      if (!watched) return;
      open.delete(session);
      record(watched, 'close', now());
    },
  };
}
