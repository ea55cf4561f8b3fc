// Game rules and heartbeats of sessions without a network: a worker's sessions and the control plane's recorder, joined.
import type { GameRules } from '../../src/core/heartbeats/game-rules.js';
import type { Heartbeat } from '../../src/core/heartbeats/heartbeat.js';
import { createRecorder, type ObservedSession } from '../../src/core/heartbeats/heartbeat-recorder.js';
import type { Account } from '../../src/proxy/account.js';
import type { Accounts } from '../../src/proxy/accounts.js';
import type { PayloadInspector } from '../../src/proxy/game-watch.js';
import type { SessionCommand } from '../../src/proxy/session.js';
import { allocateSessionCounts, viewSessionCounts } from '../../src/proxy/session-counts.js';
import { type LiveSession, Sessions } from '../../src/proxy/sessions.js';

/** A destination that stands for the game whose id follows. */
const GAME = 'game:';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type GameSession = Mutable<ObservedSession> & { readonly command: SessionCommand };

export interface GameRecorderOptions {
  readonly pool: { record(entry: Heartbeat): void };
  readonly rules: GameRules;
  readonly intervalMs: number;
  readonly gameIntervalMs: number;
  readonly now: () => number;
}

/** `session.gameId` and `session.destination` follow what the worker reports. */
export function createGameRecorder({ pool, rules, intervalMs, gameIntervalMs, now }: GameRecorderOptions) {
  const recorder = createRecorder({ pool, intervalMs, now });
  const live = new Map<GameSession, LiveSession>();
  const observed = new Map<number, GameSession>();
  let opening: GameSession | null = null;

  const sessions = new Sessions({
    accounts: { sessionOpened() {}, sessionOver() {} } as unknown as Accounts,
    counts: viewSessionCounts(allocateSessionCounts(16_384)),
    events: {
      sessionOpened({ slot, gameId }) {
        if (!opening) return;
        observed.set(slot, opening);
        opening.gameId = gameId;
        recorder.opened(opening);
      },
      sessionClosed(slot, _destination, _via, { gameId }) {
        const session = observed.get(slot);
        if (!session) return;
        session.gameId = gameId;
        recorder.closed(session);
      },
      sessionChanged(event) {
        const session = observed.get(event.slot);
        if (!session) return;
        if (event.kind === 'session-game') {
          session.gameId = event.gameId;
          recorder.game(session);
        } else if (!event.destination.host.startsWith(GAME)) {
          session.destination = event.destination;
          recorder.destination(session);
        }
      },
    },
    games: () => ({
      start: (flow) =>
        flow.host.startsWith(GAME) ? { gameId: flow.host.slice(GAME.length) } : rules.start(flow),
    }),
    gameIntervalMs,
    now,
    date: now,
  });

  return {
    opened(session: GameSession): PayloadInspector | null {
      const { command, client, destination } = session;
      const owner = { end() {}, tick() {}, setRates() {} };
      const request = {
        command,
        clientProtocol: 'socks5',
        account: ACCOUNT,
        client,
        destination,
        owner,
      } as const;
      const opened = sessions.open(request);
      if (!opened) throw new Error('no room for another session');
      live.set(session, opened);
      opening = session;
      return opened.start(destination.address);
    },
    destination(
      session: GameSession,
      { host, address, port }: { host: string; address: string; port: number },
    ): PayloadInspector | null {
      return live.get(session)?.newDestination({ host, address, port }) ?? null;
    },
    /** The session plays a game, as if a rule had found it. */
    game(session: GameSession, gameId: string): void {
      live.get(session)?.newDestination({ host: `${GAME}${gameId}`, address: '', port: 1 });
    },
    tick(at: number): void {
      sessions.tick();
      recorder.tick(at);
    },
    closed(session: GameSession): void {
      live.get(session)?.finish('client-closed');
    },
  };
}

const ACCOUNT = {
  record: { id: 'a1', username: 'player' },
  rates: null,
  sessions: new Set(),
} as unknown as Account;
