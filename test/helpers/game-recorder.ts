// Game rules and heartbeats of sessions without a network: connects a worker's sessions to the control plane's recorder.
import type { GameRules } from '../../src/core/heartbeats/game-rules.js';
import type { Heartbeat } from '../../src/core/heartbeats/heartbeat.js';
import { createRecorder } from '../../src/core/heartbeats/heartbeat-recorder.js';
import { SessionRegistry } from '../../src/core/sessions/session-registry.js';
import { allocateSessionCounts, viewSessionCounts } from '../../src/proxy/memory/session-counts.js';
import type { WorkerAccount } from '../../src/proxy/worker/account.js';
import type { WorkerAccounts } from '../../src/proxy/worker/accounts.js';
import { WorkerPermits } from '../../src/proxy/worker/permits.js';
import type { WorkerSession } from '../../src/proxy/worker/session.js';
import type { PayloadInspector } from '../../src/proxy/worker/session-games.js';
import { WorkerSessions } from '../../src/proxy/worker/sessions.js';
import type { FakeSession } from './fake-session.js';

/** A destination `game:<id>` represents the game with this id. */
const GAME = 'game:';

export interface GameRecorderOptions {
  readonly pool: { record(entry: Heartbeat): void };
  readonly rules: GameRules;
  readonly intervalMs: number;
  readonly gameIntervalMs: number;
  readonly now: () => number;
}

/** `session.gameId` and `session.destination` change with the worker's reports. */
export function createGameRecorder({ pool, rules, intervalMs, gameIntervalMs, now }: GameRecorderOptions) {
  const registry = new SessionRegistry();
  registry.subscribe(createRecorder({ pool, intervalMs, now }));
  const live = new Map<FakeSession, WorkerSession>();
  const observed = new Map<number, FakeSession>();
  let opening: FakeSession | null = null;

  const sessions = new WorkerSessions({
    guards: { refused: () => undefined },
    accounts: { sessionOpened() {}, sessionOver() {} } as unknown as WorkerAccounts,
    places: { acquire: () => null, count() {}, release() {} },
    counts: viewSessionCounts(allocateSessionCounts(16_384)),
    events: {
      sessionOpened({ slot, gameId }) {
        if (!opening) return;
        observed.set(slot, opening);
        opening.gameId = gameId;
        registry.opened(opening);
      },
      sessionClosed(slot, _left, { gameId }) {
        const session = observed.get(slot);
        if (!session) return;
        session.gameId = gameId;
        registry.closed(session, session.summary);
      },
      sessionChanged(event) {
        const session = observed.get(event.slot);
        if (!session) return;
        if (event.kind === 'session-game') {
          session.gameId = event.gameId;
          registry.gameChanged(session);
        } else if (!event.destination.host.startsWith(GAME)) {
          session.destination = event.destination;
          registry.destinationChanged(session);
        }
      },
    },
    permits: new WorkerPermits({ push() {} }),
    games: () => ({
      start: (flow) =>
        flow.host.startsWith(GAME) ? { gameId: flow.host.slice(GAME.length) } : rules.start(flow),
    }),
    gameIntervalMs,
    now,
    date: now,
  });

  return {
    opened(session: FakeSession): PayloadInspector | null {
      const { command, client, destination } = session;
      const transfer = { end() {}, tick() {}, idleMs: () => 0, setRates() {} };
      const request = {
        command,
        clientProtocol: 'socks5',
        isByAddress: false,
        linkHash: null,
        account: ACCOUNT,
        client,
        destination,
        transfer,
        permit: null,
      } as const;
      const opened = sessions.open(request);
      if (typeof opened === 'string') throw new Error('no room for another session');
      live.set(session, opened);
      opening = session;
      return opened.start(destination.address, null);
    },
    destination(
      session: FakeSession,
      { host, address, port }: { host: string; address: string; port: number },
    ): PayloadInspector | null {
      return (
        live.get(session)?.newDestination({ host, address, port, outgoing: null, via: null, exit: null }) ??
        null
      );
    },
    /** Sets the session's game, as a matching rule would. */
    game(session: FakeSession, gameId: string): void {
      live.get(session)?.newDestination({
        host: `${GAME}${gameId}`,
        address: '',
        port: 1,
        outgoing: null,
        via: null,
        exit: null,
      });
    },
    tick(): void {
      sessions.tick();
      registry.tick();
    },
    closed(session: FakeSession): void {
      live.get(session)?.finish('client-closed');
    },
  };
}

const ACCOUNT = {
  record: { id: 'a1', username: 'player' },
  rates: null,
  sessions: new Set(),
} as unknown as WorkerAccount;
