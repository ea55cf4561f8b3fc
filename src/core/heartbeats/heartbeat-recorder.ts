// When heartbeat entries are made: at a session's open and close, every interval while bytes move, on a GameID.
import type { Clock } from '../clock.js';
import { formatHostPort } from '../ip.js';
import type { Session } from '../sessions/session.js';
import type { HeartbeatKind } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';

/** What the recorder looks at in a session. */
export type ObservedSession = Pick<
  Session,
  'id' | 'accountId' | 'username' | 'protocol' | 'client' | 'destination' | 'gameId' | 'bytesUp' | 'bytesDown'
>;

export interface RecorderOptions {
  readonly pool: Pick<HeartbeatPool, 'record'>;
  /** Time between two `beat` entries of a session whose bytes move. */
  readonly intervalMs: number;
  readonly now: Clock;
}

export interface Recorder {
  /** Makes the `open` entry. */
  opened(session: ObservedSession): void;
  /** An association sends to a destination it has not sent to before, which its entries name from now on. */
  destination(session: ObservedSession): void;
  /** The session plays its `gameId`: makes a `game` entry. */
  game(session: ObservedSession): void;
  /** Makes the `beat` entries that are due. Call it about once a second. */
  tick(now: number): void;
  /** Makes the `close` entry; a session that is not open (any more) is passed over. */
  closed(session: ObservedSession): void;
}

/** What the recorder remembers of an open session. */
interface Watched {
  readonly session: ObservedSession;
  destination: string;
  lastEntryAt: number;
  bytesUp: number;
  bytesDown: number;
}

export function createRecorder({ pool, intervalMs, now }: RecorderOptions): Recorder {
  const open = new Map<ObservedSession, Watched>();

  function record(watched: Watched, kind: HeartbeatKind, at: number): void {
    const { session } = watched;
    const bytesUp = session.bytesUp();
    const bytesDown = session.bytesDown();
    pool.record({
      at,
      accountId: session.accountId,
      username: session.username,
      sessionId: session.id,
      client: session.client.address,
      destination: watched.destination,
      protocol: session.protocol,
      bytesUp: bytesUp - watched.bytesUp,
      bytesDown: bytesDown - watched.bytesDown,
      kind,
      gameId: session.gameId,
    });
    watched.bytesUp = bytesUp;
    watched.bytesDown = bytesDown;
    watched.lastEntryAt = at;
  }

  function beatIfDue(watched: Watched, at: number): void {
    // A clock set back must not silence the session until it has caught up.
    if (at < watched.lastEntryAt) watched.lastEntryAt = at;
    if (at - watched.lastEntryAt < intervalMs) return;
    const { session } = watched;
    if (session.bytesUp() === watched.bytesUp && session.bytesDown() === watched.bytesDown) return;
    record(watched, 'beat', at);
  }

  const destinationOf = ({ destination }: ObservedSession): string =>
    formatHostPort(destination.host, destination.port);

  return {
    opened(session) {
      const at = now();
      const destination = destinationOf(session);
      const watched: Watched = { session, destination, lastEntryAt: at, bytesUp: 0, bytesDown: 0 };
      open.set(session, watched);
      record(watched, 'open', at);
    },

    destination(session) {
      const watched = open.get(session);
      if (watched) watched.destination = destinationOf(session);
    },

    game(session) {
      const watched = open.get(session);
      if (watched) record(watched, 'game', now());
    },

    tick(at) {
      for (const watched of open.values()) beatIfDue(watched, at);
    },

    closed(session) {
      const watched = open.get(session);
      if (!watched) return;
      open.delete(session);
      record(watched, 'close', now());
    },
  };
}
