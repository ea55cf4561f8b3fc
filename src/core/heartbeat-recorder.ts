// When heartbeat entries are made: at a session's open and close, every interval while bytes move, on a GameID.
import type { Clock } from './clock.js';
import type { GameRules, PayloadMatcher, PayloadVerdict } from './game-rules.js';
import type { HeartbeatKind } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';
import { parseIp } from './ip.js';
import type { Session } from './session.js';

/** A session repeats an unchanged GameID at most this often. */
const GAME_INTERVAL_MS = 1000;

/** Sees a flow's first client bytes, chunk by chunk, until it returns false. Never alters or keeps them. */
export type PayloadInspector = (chunk: Uint8Array) => boolean;

/** What the recorder looks at in a session. */
export type ObservedSession = Pick<
  Session,
  | 'id'
  | 'accountId'
  | 'username'
  | 'command'
  | 'protocol'
  | 'client'
  | 'destination'
  | 'gameId'
  | 'bytesUp'
  | 'bytesDown'
>;

export interface RecorderOptions {
  readonly pool: Pick<HeartbeatPool, 'record'>;
  readonly rules: GameRules;
  /** Time between two `beat` entries of a session whose bytes move. */
  readonly intervalMs: number;
  readonly now: Clock;
}

export interface Recorder {
  /**
   * Asks the game rules about the session's destination (a UDP association has none yet), sets `session.gameId`, and
   * makes the `open` entry. Returns what must see the first client bytes, or null when no rule needs them.
   */
  opened(session: ObservedSession): PayloadInspector | null;
  /** Makes the `beat` entries that are due and settles GameIDs that waited for more bytes. Call it about once a second. */
  tick(now: number): void;
  /** The session plays `gameId`. Makes a `game` entry, but repeats an unchanged GameID at most once a second. */
  game(session: ObservedSession, gameId: string): void;
  /** Makes the `close` entry; a session that is not open (any more) is passed over. */
  closed(session: ObservedSession): void;
}

/** What the recorder remembers of an open session. */
interface Watched {
  readonly session: ObservedSession;
  readonly destination: string;
  lastEntryAt: number;
  lastGameAt: number;
  bytesUp: number;
  bytesDown: number;
  matcher: PayloadMatcher | null;
  /** Whether client bytes came since the last tick. */
  fed: boolean;
}

export function createRecorder({ pool, rules, intervalMs, now }: RecorderOptions): Recorder {
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

  function start(session: ObservedSession): PayloadMatcher | null {
    if (session.command === 'udp-associate') return null;
    const { host, address, port } = session.destination;
    const verdict = rules.start({ host, ip: parseIp(address), port, protocol: session.protocol });
    if (verdict === null) return null;
    if ('inspect' in verdict) return verdict.inspect;
    session.gameId = verdict.gameId;
    return null;
  }

  /** Acts on a verdict; true while the matcher wants more bytes. */
  function heed(watched: Watched, verdict: PayloadVerdict): boolean {
    if (verdict === 'more') return true;
    watched.matcher = null;
    if (verdict !== 'done') game(watched, verdict.gameId, now());
    return false;
  }

  function game(watched: Watched, gameId: string, at: number): void {
    const { session } = watched;
    const sinceLast = at - watched.lastGameAt;
    if (gameId === session.gameId && sinceLast >= 0 && sinceLast < GAME_INTERVAL_MS) return;
    session.gameId = gameId;
    watched.lastGameAt = at;
    record(watched, 'game', at);
  }

  function beatIfDue(watched: Watched, at: number): void {
    // A clock set back must not silence the session until it has caught up.
    if (at < watched.lastEntryAt) watched.lastEntryAt = at;
    if (at - watched.lastEntryAt < intervalMs) return;
    const { session } = watched;
    if (session.bytesUp() === watched.bytesUp && session.bytesDown() === watched.bytesDown) return;
    record(watched, 'beat', at);
  }

  return {
    opened(session) {
      const at = now();
      const { host, port } = session.destination;
      const watched: Watched = {
        session,
        destination: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
        lastEntryAt: at,
        lastGameAt: Number.NEGATIVE_INFINITY,
        bytesUp: 0,
        bytesDown: 0,
        matcher: start(session),
        fed: false,
      };
      if (session.gameId !== null) watched.lastGameAt = at;
      open.set(session, watched);
      record(watched, 'open', at);
      if (watched.matcher === null) return null;
      return (chunk) => {
        if (watched.matcher === null) return false;
        watched.fed = true;
        return heed(watched, watched.matcher.feed(chunk));
      };
    },

    tick(at) {
      for (const watched of open.values()) {
        if (watched.matcher !== null && !watched.fed) heed(watched, watched.matcher.settle());
        watched.fed = false;
        beatIfDue(watched, at);
      }
    },

    game(session, gameId) {
      const watched = open.get(session);
      if (watched) game(watched, gameId, now());
    },

    closed(session) {
      const watched = open.get(session);
      if (!watched) return;
      open.delete(session);
      const verdict = watched.matcher?.end() ?? 'done';
      watched.matcher = null;
      // The close entry itself carries the GameID: no entry beside it.
      if (verdict !== 'done') session.gameId = verdict.gameId;
      record(watched, 'close', now());
    },
  };
}
