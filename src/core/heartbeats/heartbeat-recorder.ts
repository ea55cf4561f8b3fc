// Records heartbeat entries: when a session opens and closes, once per interval while it transfers bytes, and for a detected game. A
// session that has ended when it is reported gets only a `close` entry.
import { formatHostPort } from '../addresses/ip.js';
import type { Session, SessionObserver } from '../sessions/session.js';
import type { Clock } from '../time/clock.js';
import type { HeartbeatKind } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';

interface OpenSession {
  readonly session: Session;
  lastEntryAt: number;
  /** Bytes since the last entry. */
  bytesUp: number;
  bytesDown: number;
}

export function createRecorder(options: {
  readonly pool: Pick<HeartbeatPool, 'record'>;
  /** Time between two `beat` entries of a session that transfers bytes. */
  readonly intervalMs: number;
  readonly now: Clock;
}): Omit<SessionObserver, 'destinationChanged'> & { beat(): void } {
  const { pool, intervalMs, now } = options;
  const open = new Map<Session, OpenSession>();
  /** Sessions that have transferred bytes since their last entry. */
  const active = new Set<OpenSession>();

  function record(watched: OpenSession, kind: HeartbeatKind, at: number): void {
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
    active.delete(watched);
  }

  function beatIfDue(watched: OpenSession, at: number): void {
    // After the clock was set back, continue at once instead of waiting for the old time.
    if (at < watched.lastEntryAt) watched.lastEntryAt = at;
    if (at - watched.lastEntryAt >= intervalMs) record(watched, 'beat', at);
  }

  const watch = (session: Session, at: number, bytesUp: number, bytesDown: number): OpenSession => ({
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

    resumed(session) {
      const { up, down } = session.unrecorded ?? { up: 0, down: 0 };
      const watched = watch(session, now(), up, down);
      open.set(session, watched);
      if (up + down > 0) active.add(watched);
    },

    /** Records an entry for each session that has transferred bytes since its last one. */
    beat() {
      const at = now();
      for (const watched of [...active]) record(watched, 'beat', at);
    },

    handingOver() {
      // Also of those that have nothing: what the process before has handed over is recorded.
      for (const { session, bytesUp: up, bytesDown: down } of open.values())
        session.unrecorded = up + down > 0 ? { up, down } : undefined;
    },

    /** Records one entry for the whole session. */
    passed(session) {
      const at = now();
      record(watch(session, at, session.bytesUp, session.bytesDown), 'close', at);
    },

    traffic(session, bytesUp, bytesDown) {
      const watched = open.get(session);
      if (!watched) return;
      watched.bytesUp += bytesUp;
      watched.bytesDown += bytesDown;
      active.add(watched);
    },

    gameChanged(session) {
      const watched = open.get(session);
      if (watched) record(watched, 'game', now());
    },

    counted() {
      const at = now();
      for (const watched of active) beatIfDue(watched, at);
    },

    closed(session) {
      const watched = open.get(session);
      if (!watched) return;
      open.delete(session);
      record(watched, 'close', now());
    },
  };
}
