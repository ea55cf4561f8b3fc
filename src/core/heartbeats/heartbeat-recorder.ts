// When heartbeat entries are made: at a session's open and close, every interval while bytes move, on a GameID.
import type { Clock } from '../clock.js';
import { formatHostPort, parseIp } from '../ip.js';
import type { Session } from '../sessions/session.js';
import type { Flow, GameRules, PayloadMatcher, PayloadVerdict } from './game-rules.js';
import type { HeartbeatKind } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';

/** A session repeats an unchanged GameID at most this often. */
const GAME_INTERVAL_MS = 1000;

/** Destinations of one session whose first bytes may be under inspection at once; each holds up to `maxBytes` of its rule. */
const MAX_INSPECTED = 16;

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
  /**
   * A UDP association sends to a destination it has not sent to before, which its entries name from now on. Asks the
   * game rules about it: a fixed rule makes a `game` entry. Returns what must see the first datagrams to that
   * destination, one datagram a call, or null when no rule needs them. Beyond MAX_INSPECTED destinations of a session
   * that still wait for bytes, the one that has waited longest is decided as if it had ended.
   */
  destination(session: ObservedSession, flow: Omit<Flow, 'protocol'>): PayloadInspector | null;
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
  destination: string;
  lastEntryAt: number;
  lastGameAt: number;
  bytesUp: number;
  bytesDown: number;
  /** In the order they began: at most one for a stream, one a destination for a UDP association. */
  inspected: readonly Inspected[];
}

interface Inspected {
  readonly matcher: PayloadMatcher;
  /** Whether client bytes came since the last tick. */
  fed: boolean;
}

/** Most sessions have nothing to inspect: they share this. */
const NOTHING_INSPECTED: readonly Inspected[] = [];

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

  /** Asks the rules about a flow of the session: a GameID at once, bytes to be inspected, or neither. */
  function ask(watched: Watched, flow: Flow): { gameId: string } | { inspect: PayloadInspector } | null {
    const verdict = rules.start(flow);
    if (verdict === null || 'gameId' in verdict) return verdict;
    const inspected: Inspected = { matcher: verdict.inspect, fed: false };
    watched.inspected = [...watched.inspected, inspected];
    const inspect: PayloadInspector = (chunk) => {
      if (!watched.inspected.includes(inspected)) return false;
      inspected.fed = true;
      return heed(watched, inspected, inspected.matcher.feed(chunk));
    };
    return { inspect };
  }

  /** Acts on a verdict; true while the matcher wants more bytes. */
  function heed(watched: Watched, inspected: Inspected, verdict: PayloadVerdict): boolean {
    if (verdict === 'more') return true;
    watched.inspected = watched.inspected.filter((each) => each !== inspected);
    if (verdict !== 'done') game(watched, verdict.gameId, now());
    return false;
  }

  function makeRoomToInspect(watched: Watched): void {
    const [oldest] = watched.inspected;
    if (oldest && watched.inspected.length >= MAX_INSPECTED) heed(watched, oldest, oldest.matcher.end());
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
      const { host, address, port } = session.destination;
      const watched: Watched = {
        session,
        destination: formatHostPort(host, port),
        lastEntryAt: at,
        lastGameAt: Number.NEGATIVE_INFINITY,
        bytesUp: 0,
        bytesDown: 0,
        inspected: NOTHING_INSPECTED,
      };
      open.set(session, watched);
      const verdict =
        session.command === 'udp-associate'
          ? null
          : ask(watched, { host, ip: parseIp(address), port, protocol: session.protocol });
      if (verdict && 'gameId' in verdict) {
        session.gameId = verdict.gameId;
        watched.lastGameAt = at;
      }
      record(watched, 'open', at);
      return verdict && 'inspect' in verdict ? verdict.inspect : null;
    },

    destination(session, { host, ip, port }) {
      const watched = open.get(session);
      if (!watched) return null;
      watched.destination = formatHostPort(host, port);
      makeRoomToInspect(watched);
      const verdict = ask(watched, { host, ip, port, protocol: session.protocol });
      if (verdict && 'gameId' in verdict) game(watched, verdict.gameId, now());
      return verdict && 'inspect' in verdict ? verdict.inspect : null;
    },

    tick(at) {
      for (const watched of open.values()) {
        for (const inspected of watched.inspected) {
          if (!inspected.fed) heed(watched, inspected, inspected.matcher.settle());
          inspected.fed = false;
        }
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
      for (const { matcher } of watched.inspected) {
        const verdict = matcher.end();
        // The close entry itself carries the GameID: no entry beside it.
        if (verdict !== 'done') session.gameId = verdict.gameId;
      }
      watched.inspected = NOTHING_INSPECTED;
      record(watched, 'close', now());
    },
  };
}
