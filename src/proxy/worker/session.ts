// One session of a player in its worker: a relayed connection (CONNECT, BIND) or a UDP association, from its request to its
// end. It belongs to an account of this worker, and counts its bytes in shared memory.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { GameRules } from '../../core/heartbeats/game-rules.js';
import type {
  ClientProtocolName,
  DatagramDestination,
  Destination,
  SessionCommand,
  SessionEnd,
  SessionSummary,
} from '../../core/sessions/session.js';
import type {
  CapturedSession,
  HandedAssociation,
  HandedConnection,
  HandedRelay,
  HandedSession,
} from '../handover/state.js';
import type { AccountRates, Meter } from '../io/rates.js';
import type { SessionCounts } from '../memory/session-counts.js';
import type { SessionFacts } from '../messages.js';
import type { AccountSession, LoggedInClient, WorkerAccount } from './account.js';
import type { Events } from './events.js';
import type { Permit, WorkerPermits } from './permits.js';
import { type PayloadInspector, SessionGames } from './session-games.js';

/** The object that transfers the session's bytes: a command until it is relayed, then its relay, or an association. */
export interface SessionTransfer {
  /** Ends the transfer for an external reason; which then calls `session.finish` or `session.abandon`. */
  end(reason: SessionEnd): void;
  /** Called about once a second. `nowMs`: monotonic time in ms. */
  tick?(nowMs: number): void;
  /** Time since the last transfer, in ms; left out: the session is being set up. */
  idleMs?(nowMs: number): number;
  /** Left out: the transfer will read them from the account. */
  setRates?(rates: AccountRates | null): void;
  /** What another process needs to continue it; null, or left out: that is not possible. The transfer can go on. */
  handOver?(nowMs: number): HandedTransfer | null;
}

type HandedTransfer = Omit<HandedRelay<never>, 'session'> | Omit<HandedAssociation<never>, 'session'>;

export interface SessionRequest extends LoggedInClient {
  readonly command: SessionCommand;
  readonly clientProtocol: ClientProtocolName;
  readonly account: WorkerAccount;
  readonly destination: { readonly host: string; readonly port: number };
  readonly transfer: SessionTransfer;
  /** The permit over all nodes; null: the account has no such limit. */
  readonly permit: Permit | null;
}

/** Further fields of the log line of an association. */
export type DatagramSummary = Required<
  Pick<SessionSummary, 'datagramsUp' | 'datagramsDown' | 'dropped' | 'destinations'>
>;

/** What the sessions of a worker share. */
export interface SessionContext {
  readonly counts: SessionCounts;
  readonly events: Pick<Events, 'sessionOpened' | 'sessionClosed' | 'sessionChanged'>;
  readonly permits: Pick<WorkerPermits, 'hold'>;
  readonly games: () => GameRules;
  /** Minimum time between two reports of a session's GameIDs, in ms. */
  readonly gameIntervalMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** The wall clock, in ms since the Unix epoch. */
  readonly date: () => number;
  readonly onEnded: (session: WorkerSession) => void;
}

/** Kept small: there are thousands of them. */
export class WorkerSession implements AccountSession, Meter {
  readonly account: WorkerAccount;
  readonly command: SessionCommand;
  readonly #clientProtocol: SessionRequest['clientProtocol'];
  readonly client: Endpoint;
  readonly isByAddress: boolean;
  readonly linkHash: string | null;
  readonly slot: number;
  readonly #context: SessionContext;
  #openedMs: number;
  #permit: Permit | null;
  #transfer: SessionTransfer;
  destination: Destination;
  gameId: string | null = null;
  /** The upstream proxy as `host:port`; null: direct. */
  via: string | null = null;
  /** The name of its exit; null: none. */
  exit: string | null = null;
  /** `started`: reported to the control plane. */
  #state: 'new' | 'started' | 'ended' = 'new';
  /** Null until a game rule matches. */
  #games: SessionGames | null = null;

  constructor(request: SessionRequest, slot: number, context: SessionContext) {
    this.account = request.account;
    this.command = request.command;
    this.#clientProtocol = request.clientProtocol;
    this.client = request.client;
    this.isByAddress = request.isByAddress;
    this.linkHash = request.linkHash;
    this.slot = slot;
    this.#context = context;
    this.#transfer = request.transfer;
    this.#permit = request.permit;
    this.#permit?.use(this);
    this.destination = { host: request.destination.host, address: '', port: request.destination.port };
    this.#openedMs = Math.round(context.now());
  }

  /** Bytes up at `countAt`, down at `countAt + 1`. */
  get counts(): Float64Array {
    return this.#context.counts.bytes;
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

  get transfer(): SessionTransfer {
    return this.#transfer;
  }

  setTransfer(transfer: SessionTransfer): void {
    this.#transfer = transfer;
  }

  get rates(): AccountRates | null {
    return this.account.rates;
  }

  setRates(rates: AccountRates | null): void {
    this.#transfer.setRates?.(rates);
  }

  holdPermit(): void {
    this.#permit ??= this.#context.permits.hold(this.account, this.client, this);
  }

  releasePermit(): void {
    this.#permit?.release();
  }

  end(reason: SessionEnd): void {
    if (!this.isEnded) this.#transfer.end(reason);
  }

  idleMs(nowMs: number): number {
    return this.#transfer.idleMs?.(nowMs) ?? 0;
  }

  tick(now: number): void {
    this.#games?.tick(now);
    this.#transfer.tick?.(now);
  }

  /**
   * Both sides are connected: reports the session to the control plane.
   * @param address the address of the destination; '' for a name that the upstream proxy resolves
   * @param outgoing our end of the connection; null for an association
   * @returns an inspector for the client's first bytes; null: no game rule needs them
   */
  start(address: string, outgoing: Endpoint | null): PayloadInspector | null {
    const { host, port } = this.destination;
    // Equal strings are kept once.
    this.destination = { host, address: address === host ? host : address, port };
    const inspect = this.command === 'udp-associate' ? null : this.#askGames(this.destination);
    this.#state = 'started';
    this.#context.events.sessionOpened(this.#facts(outgoing));
    return inspect;
  }

  /**
   * An association sends to a new destination, or to another address of a name.
   * @returns an inspector for the first datagrams to it, one datagram for each call; null: no game rule needs them
   */
  newDestination(destination: DatagramDestination, isNew = true): PayloadInspector | null {
    if (this.isEnded) return null;
    this.destination = destination;
    this.via = destination.via;
    this.exit = destination.exit;
    const { events } = this.#context;
    events.sessionChanged({ kind: 'session-destination', slot: this.slot, destination });
    return isNew ? this.#askGames(destination) : null;
  }

  /** What another process needs to continue it; null: it has not been reported, and belongs to a connection. */
  capture(): HandedConnection<CapturedSession> | null {
    if (this.#state !== 'started') return null;
    const nowMs = this.#context.now();
    const session = {
      slot: this.slot,
      isByAddress: this.isByAddress,
      linkHash: this.linkHash,
      ageMs: Math.round(nowMs - this.#openedMs),
      gameId: this.#games?.last ?? this.gameId,
    };
    const transfer = this.#transfer.handOver?.(nowMs) ?? null;
    return transfer === null ? { kind: 'lost', session, descriptors: [] } : { ...transfer, session };
  }

  /** Another process has handed it over: it is the same session, with its time and its counts. */
  continue({ destination, via, exit, gameId, ageMs, bytesUp, bytesDown }: HandedSession): void {
    this.#state = 'started';
    this.#openedMs -= ageMs;
    Object.assign(this, { destination, via, exit, gameId });
    this.counts[this.countAt] = bytesUp;
    this.counts[this.countAt + 1] = bytesDown;
  }

  /** Asks the game rules again, for a client that has sent nothing yet. */
  inspectAgain(): PayloadInspector | null {
    return this.#askGames(this.destination);
  }

  /** Ends the session: reports it and releases its slot. Further calls do nothing. */
  finish(end: SessionEnd, datagrams?: DatagramSummary): void {
    if (this.#state !== 'started') return this.abandon();
    this.#state = 'ended';
    // The summary carries the GameID: no entry beside it.
    this.gameId = this.#games?.end() ?? this.gameId;
    const { events, now } = this.#context;
    const summary: SessionSummary = {
      bytesUp: this.bytesUp,
      bytesDown: this.bytesDown,
      end,
      durationMs: Math.max(0, Math.round(now()) - this.#openedMs),
      gameId: this.gameId,
    };
    events.sessionClosed(this.slot, this, datagrams === undefined ? summary : { ...summary, ...datagrams });
    this.#context.onEnded(this);
  }

  /** Ends a session that was not started: no heartbeat entry, no log line. */
  abandon(): void {
    if (this.isEnded) return;
    this.#state = 'ended';
    this.#context.onEnded(this);
  }

  #askGames(destination: Destination): PayloadInspector | null {
    const { games: rules, gameIntervalMs: intervalMs, now } = this.#context;
    const protocol = this.command === 'udp-associate' ? 'udp' : 'tcp';
    const games =
      this.#games ?? new SessionGames({ intervalMs, now, onGame: (gameId) => this.#gameChanged(gameId) });
    const answer = games.ask(rules(), destination, protocol);
    if (answer === 'no-rule') return null;
    this.#games = games;
    return answer;
  }

  #gameChanged(gameId: string): void {
    this.gameId = gameId;
    // Known before the session is reported: it is part of the report.
    if (this.#state === 'new') return;
    this.#context.events.sessionChanged({ kind: 'session-game', slot: this.slot, gameId });
  }

  #facts(outgoing: Endpoint | null): SessionFacts {
    const { counts, date, now } = this.#context;
    const { record } = this.account;
    const connectMs = Math.max(0, now() - this.#openedMs);
    return {
      accountId: record.id,
      username: record.username,
      command: this.command,
      clientProtocol: this.#clientProtocol,
      client: this.client,
      destination: this.destination,
      openedAt: Math.round(date() - connectMs),
      gameId: this.gameId,
      via: this.via,
      exit: this.exit,
      outgoing,
      connectMs: this.command === 'udp-associate' ? null : Math.round(connectMs),
      slot: this.slot,
      generation: counts.generations[this.slot] ?? 0,
    };
  }
}
