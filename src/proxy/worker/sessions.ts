// The live sessions of one worker: opens and counts them, applies time limits, and reports them to the control plane.
import type { GameRules } from '../../core/heartbeats/game-rules.js';
import type { Endpoint } from '../../core/ip.js';
import type { Destination, SessionCommand, SessionEnd, SessionSummary } from '../../core/sessions/session.js';
import type { PayloadInspector } from '../connection/game-watch.js';
import { type GamesOwner, SessionGames } from '../connection/session-games.js';
import type { AccountRates } from '../io/rates.js';
import type { PlaceRefusal, Places } from '../memory/places.js';
import { type SessionCounts, SlotPool } from '../memory/session-counts.js';
import type { SessionFacts } from '../messages.js';
import type { WorkerAccount } from './account.js';
import type { WorkerAccounts } from './accounts.js';
import type { Events } from './events.js';
import type { Permit, WorkerPermits } from './permits.js';
import type { DatagramSummary, SessionOwner, SessionRequest, WorkerSession } from './session.js';

export interface WorkerSessionsOptions {
  readonly accounts: WorkerAccounts;
  readonly counts: SessionCounts;
  readonly events: Pick<Events, 'sessionOpened' | 'sessionClosed' | 'sessionChanged'>;
  readonly permits: Pick<WorkerPermits, 'hold'>;
  readonly places: Pick<Places, 'acquire' | 'release'>;
  /** The present game rules. */
  readonly games: () => GameRules;
  /** Minimum time between two reports of a session's GameIDs, in ms. */
  readonly gameIntervalMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** The wall clock, in ms since the Unix epoch. */
  readonly date: () => number;
}

export class WorkerSessions {
  readonly options: WorkerSessionsOptions;
  /** By slot. */
  readonly #sessions: (LiveSession | undefined)[] = [];
  readonly #slots: SlotPool;

  constructor(options: WorkerSessionsOptions) {
    this.options = options;
    this.#slots = new SlotPool(options.counts);
  }

  /** The session with this slot and generation; undefined when it has ended. */
  get(slot: number, generation: number): LiveSession | undefined {
    return this.options.counts.generations[slot] === generation ? this.#sessions[slot] : undefined;
  }

  all(): LiveSession[] {
    return this.#sessions.filter((session) => session !== undefined);
  }

  /** Opens a session, or returns which limit refuses it. */
  open(request: SessionRequest): LiveSession | PlaceRefusal {
    const { places } = this.options;
    const refusal = places.acquire(request);
    if (refusal !== null) return refusal;
    const slot = this.#slots.acquire();
    if (slot === -1) {
      places.release(request);
      return 'max-connections';
    }
    const session = new LiveSession(request, slot, this);
    this.#sessions[slot] = session;
    this.options.accounts.sessionOpened(request.account, session);
    return session;
  }

  /** Removes an ended session and frees its slot. */
  remove(session: LiveSession): void {
    this.#sessions[session.slot] = undefined;
    session.releasePermit();
    this.options.accounts.sessionOver(session.account, session);
    this.options.places.release(session);
    this.#slots.release(session.slot);
  }

  endAll(reason: SessionEnd): void {
    for (const session of this.all()) session.end(reason);
  }

  /** Applies the time limits to every session. Call it about once a second. */
  tick(): void {
    const now = this.options.now();
    for (const session of this.#sessions) session?.tick(now);
  }
}

/** Kept small: there are thousands of sessions. */
export class LiveSession implements WorkerSession, GamesOwner {
  readonly account: WorkerAccount;
  readonly command: SessionCommand;
  readonly #clientProtocol: SessionRequest['clientProtocol'];
  readonly client: Endpoint;
  readonly isByAddress: boolean;
  readonly slot: number;
  readonly #sessions: WorkerSessions;
  readonly #openedMs: number;
  #permit: Permit | null;
  #owner: SessionOwner;
  destination: Destination;
  gameId: string | null = null;
  via: string | null = null;
  /** `started`: reported to the control plane. */
  #state: 'new' | 'started' | 'ended' = 'new';
  /** Null until a game rule matches. */
  #games: SessionGames | null = null;

  constructor(request: SessionRequest, slot: number, sessions: WorkerSessions) {
    this.account = request.account;
    this.command = request.command;
    this.#clientProtocol = request.clientProtocol;
    this.client = request.client;
    this.isByAddress = request.isByAddress;
    this.slot = slot;
    this.#sessions = sessions;
    this.#owner = request.owner;
    this.#permit = request.permit;
    this.#permit?.use(this);
    this.destination = { host: request.destination.host, address: '', port: request.destination.port };
    this.#openedMs = Math.round(sessions.options.now());
  }

  get counts(): Float64Array {
    return this.#sessions.options.counts.bytes;
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

  get bytes(): number {
    return this.bytesUp + this.bytesDown;
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  get owner(): SessionOwner {
    return this.#owner;
  }

  setOwner(owner: SessionOwner): void {
    this.#owner = owner;
  }

  rates(): AccountRates | null {
    return this.account.rates;
  }

  setRates(rates: AccountRates | null): void {
    this.#owner.setRates(rates);
  }

  holdPermit(): void {
    this.#permit ??= this.#sessions.options.permits.hold(this.account, this.client, this);
  }

  releasePermit(): void {
    this.#permit?.release();
  }

  end(reason: SessionEnd): void {
    if (!this.isEnded) this.#owner.end(reason);
  }

  idleMs(nowMs: number): number {
    return this.#owner.idleMs(nowMs);
  }

  tick(now: number): void {
    this.#games?.tick(now);
    this.#owner.tick(now);
  }

  start(address: string): PayloadInspector | null {
    const { host, port } = this.destination;
    // Equal strings are kept once.
    this.destination = { host, address: address === host ? host : address, port };
    const inspect = this.command === 'udp-associate' ? null : this.#askGames(this.destination);
    this.#state = 'started';
    this.#sessions.options.events.sessionOpened(this.#facts());
    return inspect;
  }

  newDestination(destination: Destination): PayloadInspector | null {
    if (this.isEnded) return null;
    this.destination = destination;
    const { events } = this.#sessions.options;
    events.sessionChanged({ kind: 'session-destination', slot: this.slot, destination });
    return this.#askGames(destination);
  }

  finish(end: SessionEnd, datagrams?: DatagramSummary): void {
    if (this.#state !== 'started') return this.abandon();
    this.#state = 'ended';
    // The summary carries the GameID: no entry beside it.
    this.gameId = this.#games?.end() ?? this.gameId;
    const { events, now } = this.#sessions.options;
    const summary: SessionSummary = {
      bytesUp: this.bytesUp,
      bytesDown: this.bytesDown,
      end,
      durationMs: Math.max(0, Math.round(now()) - this.#openedMs),
      gameId: this.gameId,
      ...datagrams,
    };
    events.sessionClosed(this.slot, this.destination, this.via, summary);
    this.#sessions.remove(this);
  }

  abandon(): void {
    if (this.isEnded) return;
    this.#state = 'ended';
    this.#sessions.remove(this);
  }

  #askGames(destination: Destination): PayloadInspector | null {
    const { games: rules, gameIntervalMs, now } = this.#sessions.options;
    const protocol = this.command === 'udp-associate' ? 'udp' : 'tcp';
    const games = this.#games ?? new SessionGames(this, { intervalMs: gameIntervalMs, now });
    const answer = games.ask(rules(), destination, protocol);
    if (answer === 'no-rule') return null;
    this.#games = games;
    return answer;
  }

  gameChanged(gameId: string): void {
    this.gameId = gameId;
    // Known before the session is reported: it is part of the report.
    if (this.#state === 'new') return;
    this.#sessions.options.events.sessionChanged({ kind: 'session-game', slot: this.slot, gameId });
  }

  #facts(): SessionFacts {
    const { counts, date, now } = this.#sessions.options;
    const { record } = this.account;
    return {
      accountId: record.id,
      username: record.username,
      command: this.command,
      clientProtocol: this.#clientProtocol,
      client: this.client,
      destination: this.destination,
      openedAt: Math.round(date() - Math.max(0, now() - this.#openedMs)),
      gameId: this.gameId,
      via: this.via,
      slot: this.slot,
      generation: counts.generations[this.slot] ?? 0,
    };
  }
}
