// The live sessions of one worker: opened, counted, watched for games and time limits, and reported to the control plane.
import { randomUUID } from 'node:crypto';
import type { GameRules } from '../core/heartbeats/game-rules.js';
import type { Account } from './account.js';
import type { Accounts } from './accounts.js';
import type { Events } from './events.js';
import { GameWatch, type PayloadInspector } from './game-watch.js';
import type { Endpoint } from './io/io.js';
import type { AccountRates } from './io/rates.js';
import type { SessionFacts, SessionSummary } from './messages.js';
import type {
  DatagramSummary,
  Destination,
  Session,
  SessionCommand,
  SessionEnd,
  SessionOwner,
  SessionRequest,
} from './session.js';
import { type SessionCounts, SlotPool } from './session-counts.js';

export interface SessionsOptions {
  readonly accounts: Accounts;
  readonly counts: SessionCounts;
  readonly events: Pick<Events, 'sessionOpened' | 'sessionClosed' | 'sessionChanged'>;
  /** The rules as they are now. */
  readonly games: () => GameRules;
  /** Time between two reports of a session's GameID at least, whichever GameIDs it has meanwhile, in ms. */
  readonly gameIntervalMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** The wall clock, in ms since the Unix epoch. */
  readonly date: () => number;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #byId = new Map<string, LiveSession>();
  readonly #slots: SlotPool;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#slots = new SlotPool(options.counts);
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): LiveSession | undefined {
    return this.#byId.get(id);
  }

  all(): IterableIterator<LiveSession> {
    return this.#byId.values();
  }

  /** Opens a session; null when there is no room for its counts. */
  open(request: SessionRequest): LiveSession | null {
    const slot = this.#slots.acquire();
    if (slot === -1) return null;
    const session = new LiveSession(request, slot, this.#options, () => this.#over(session));
    this.#byId.set(session.id, session);
    this.#options.accounts.sessionOpened(request.account, session);
    return session;
  }

  endAll(reason: SessionEnd): void {
    for (const session of [...this.#byId.values()]) session.end(reason);
  }

  /** Holds every session to its time limits. Meant to be called about once a second. */
  tick(): void {
    const now = this.#options.now();
    for (const session of this.#byId.values()) session.tick(now);
  }

  #over(session: LiveSession): void {
    this.#byId.delete(session.id);
    this.#options.accounts.sessionOver(session.account, session);
    this.#slots.release(session.slot);
  }
}

export class LiveSession implements Session {
  readonly id = randomUUID();
  readonly account: Account;
  readonly command: SessionCommand;
  readonly #clientProtocol: SessionRequest['clientProtocol'];
  readonly client: Endpoint;
  readonly slot: number;
  readonly #owner: SessionOwner;
  readonly #options: SessionsOptions;
  readonly #onOver: () => void;
  readonly #openedAt: number;
  readonly #openedMs: number;
  destination: Destination;
  gameId: string | null = null;
  via: string | null = null;
  isEnded = false;
  #isStarted = false;
  /** The control plane knows of it. */
  #isReported = false;
  #games: GameWatch | null = null;
  #gameAt = Number.NEGATIVE_INFINITY;
  /** Found too soon after the last: reported when that is over. */
  #waitingGame: string | null = null;

  constructor(request: SessionRequest, slot: number, options: SessionsOptions, onOver: () => void) {
    this.account = request.account;
    this.command = request.command;
    this.#clientProtocol = request.clientProtocol;
    this.client = request.client;
    this.slot = slot;
    this.#owner = request.owner;
    this.#options = options;
    this.#onOver = onOver;
    this.destination = { host: request.destination.host, address: '', port: request.destination.port };
    this.#openedAt = options.date();
    this.#openedMs = options.now();
  }

  get counts(): Float64Array {
    return this.#options.counts.bytes;
  }

  get countAt(): number {
    return 2 * this.slot;
  }

  get bytesUp(): number {
    return this.counts[this.countAt] ?? 0;
  }

  get bytesDown(): number {
    return this.counts[this.countAt + 1] ?? 0;
  }

  rates(): AccountRates | null {
    return this.account.rates;
  }

  setRates(rates: AccountRates | null): void {
    this.#owner.setRates(rates);
  }

  end(reason: SessionEnd): void {
    if (!this.isEnded) this.#owner.end(reason);
  }

  tick(now: number): void {
    this.#games?.tick();
    if (this.#waitingGame !== null && now - this.#gameAt >= this.#options.gameIntervalMs)
      this.#reportGame(this.#waitingGame);
    this.#owner.tick(now);
  }

  start(address: string): PayloadInspector | null {
    this.destination = { ...this.destination, address };
    this.#isStarted = true;
    const inspect = this.command === 'udp-associate' ? null : this.#askGames(this.destination);
    this.#options.events.sessionOpened(this.#facts());
    return inspect;
  }

  newDestination(destination: Destination): PayloadInspector | null {
    if (this.isEnded) return null;
    this.destination = destination;
    this.#options.events.sessionChanged({ kind: 'session-destination', id: this.id, destination });
    return this.#askGames(destination);
  }

  finish(end: SessionEnd, datagrams?: DatagramSummary): void {
    if (this.isEnded) return;
    if (!this.#isStarted) return this.abandon();
    this.isEnded = true;
    // The summary carries the GameID: no entry beside it.
    this.gameId = this.#games?.end() ?? this.#waitingGame ?? this.gameId;
    const summary: SessionSummary = {
      bytesUp: this.bytesUp,
      bytesDown: this.bytesDown,
      end,
      durationMs: Math.round(this.#options.now() - this.#openedMs),
      gameId: this.gameId,
      ...datagrams,
    };
    this.#options.events.sessionClosed(this.id, this.destination, this.via, summary);
    this.#onOver();
  }

  abandon(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#onOver();
  }

  #askGames(destination: Destination): PayloadInspector | null {
    const protocol = this.command === 'udp-associate' ? 'udp' : 'tcp';
    const rules = this.#options.games();
    const watch = this.#games ?? new GameWatch((gameId) => this.#foundGame(gameId));
    const verdict = watch.ask(rules, destination, protocol);
    if (verdict === null) return null;
    this.#games = watch;
    if ('inspect' in verdict) return verdict.inspect;
    this.#foundGame(verdict.gameId);
    return null;
  }

  #foundGame(gameId: string): void {
    const now = this.#options.now();
    if (this.command !== 'udp-associate' && this.gameId === null && !this.#isReported) {
      // Known before the session is reported: it is part of the report.
      this.gameId = gameId;
      this.#gameAt = now;
      return;
    }
    if (now - this.#gameAt < this.#options.gameIntervalMs) {
      this.#waitingGame = gameId === this.gameId ? null : gameId;
      return;
    }
    this.#reportGame(gameId);
  }

  #reportGame(gameId: string): void {
    this.gameId = gameId;
    this.#gameAt = this.#options.now();
    this.#waitingGame = null;
    this.#options.events.sessionChanged({ kind: 'session-game', id: this.id, gameId });
  }

  #facts(): SessionFacts {
    this.#isReported = true;
    const { record } = this.account;
    return {
      id: this.id,
      accountId: record.id,
      username: record.username,
      command: this.command,
      clientProtocol: this.#clientProtocol,
      client: this.client,
      destination: this.destination,
      openedAt: this.#openedAt,
      gameId: this.gameId,
      via: this.via,
      slot: this.slot,
      generation: this.#options.counts.generations[this.slot] ?? 0,
    };
  }
}
