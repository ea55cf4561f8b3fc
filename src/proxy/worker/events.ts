// Events of a worker for the control plane, in batches: immediately when the worker is idle, else a few milliseconds later.
// A session that opened and closed within one batch is one event. When the control plane is behind, log lines are dropped;
// logins and ends of sessions never are.
import type { LoginOutcome } from '../../core/accounts/access/login-log.js';
import type { Log } from '../../core/log.js';
import type { SessionSummary } from '../../core/sessions/session.js';
import type { LoginsEvent, SessionFacts, WorkerEvent } from '../messages.js';

/** Maximum delay of an event, in ms. Batching pays because a message costs more than its content. */
const MAX_DELAY_MS = 25;
/** A batch with this many events is sent immediately. */
const MAX_BATCH = 256;
const MAX_LINES = 1_000;
/** Maximum number of unread batches. Beyond it the control plane is behind, and events wait here. */
const MAX_UNREAD = 64;
/** An idle worker sends its events after this, in ms, unless it has sent a batch within RECENT_MS. */
const IDLE_DELAY_MS = 2;
/** See IDLE_DELAY_MS; in ms. */
const RECENT_MS = 50;

export interface EventsOptions {
  readonly post: (events: readonly WorkerEvent[]) => void;
  /** Sets a flag in shared memory: events wait. */
  readonly setWaiting: (isWaiting: boolean) => void;
  /** How many batches the control plane has read. */
  readonly batchesRead: () => number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** The wall clock, in ms since the Unix epoch. */
  readonly date: () => number;
}

export type SessionChange = Extract<WorkerEvent, { kind: 'session-destination' | 'session-game' }>;

/** Equal logins of one batch. */
type LoginGroup = { -readonly [Field in keyof LoginsEvent]: LoginsEvent[Field] };

export class Events {
  #batch: WorkerEvent[] = [];
  /** Index of the event that opened a session, by slot. */
  readonly #opened = new Map<number, number>();
  /** Index of the events with a session's last destination and last game, by slot. */
  readonly #lastDestination = new Map<number, number>();
  readonly #lastGame = new Map<number, number>();
  readonly #logins = new Map<string, LoginGroup>();
  #sent = 0;
  /** Time of the first event in the batch. */
  #beganAt = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #droppedLines = 0;

  constructor(private readonly options: EventsOptions) {}

  /**
   * Adds a session event. In a long batch (the control plane is behind), the last event of a kind replaces the session's
   * earlier one, so that the number of sessions limits the size of the batch.
   */
  sessionChanged(event: SessionChange): void {
    const last = event.kind === 'session-game' ? this.#lastGame : this.#lastDestination;
    const at = last.get(event.slot);
    if (at !== undefined && this.#batch.length >= MAX_BATCH) {
      this.#batch[at] = event;
      return;
    }
    last.set(event.slot, this.#batch.length);
    this.push(event);
  }

  push(event: WorkerEvent): void {
    if (this.#batch.length === 0) {
      this.#beganAt = this.options.now();
      this.options.setWaiting(true);
    }
    this.#batch.push(event);
  }

  /** Adds an event that the control plane waits for, and sends all. */
  pushAtOnce(event: WorkerEvent): void {
    this.push(event);
    this.send();
  }

  log(
    level: 'debug' | 'info' | 'warn' | 'error',
    fields: Readonly<Record<string, unknown>>,
    message: string,
  ): void {
    if (this.#lines >= MAX_LINES) {
      this.#droppedLines += 1;
      return;
    }
    this.#lines += 1;
    this.push({ kind: 'log', level, fields, message });
  }

  sessionOpened(session: SessionFacts): void {
    // Earlier in this batch, another session may have had this slot.
    this.#lastDestination.delete(session.slot);
    this.#lastGame.delete(session.slot);
    this.#opened.set(session.slot, this.#batch.length);
    this.push({ kind: 'session-opened', session });
  }

  sessionClosed(
    slot: number,
    { destination, via, exit }: Pick<SessionFacts, 'destination' | 'via' | 'exit'>,
    summary: SessionSummary,
  ): void {
    const at = this.#opened.get(slot);
    const opened = at === undefined ? undefined : this.#batch[at];
    if (at === undefined || opened?.kind !== 'session-opened') {
      this.push({ kind: 'session-closed', slot, destination, via, exit, summary });
      return;
    }
    this.#opened.delete(slot);
    // Later events of the session stay behind this one: the control plane ignores events of sessions that it does not know.
    // Not a copy: the batch owns it.
    const session: { -readonly [Field in keyof SessionFacts]: SessionFacts[Field] } = opened.session;
    session.destination = destination;
    session.via = via;
    session.exit = exit;
    session.gameId = summary.gameId;
    this.#batch[at] = { kind: 'session-passed', session, summary };
  }

  login(outcome: LoginOutcome, username: string, accountId: string | null, client: string): void {
    const at = this.options.date();
    const key = `${outcome} ${client} ${username}`;
    const known = this.#logins.get(key);
    if (known) {
      known.count += 1;
      known.at = at;
      return;
    }
    const logins: LoginGroup = { kind: 'logins', outcome, username, accountId, client, count: 1, at };
    this.#logins.set(key, logins);
    this.push(logins);
  }

  /**
   * Sends what waits, if it is time.
   * @param isIdle the worker has nothing else to do
   * @returns how long until it is time, in ms; Infinity when nothing waits
   */
  flush(isIdle: boolean): number {
    if (this.#batch.length === 0) return Number.POSITIVE_INFINITY;
    if (this.#sent - this.options.batchesRead() >= MAX_UNREAD) return MAX_DELAY_MS;
    const now = this.options.now();
    const isQuiet = isIdle && this.#beganAt - this.#sentAt > RECENT_MS;
    const dueMs = this.#beganAt + (isQuiet ? IDLE_DELAY_MS : MAX_DELAY_MS) - now;
    if (dueMs > 0 && this.#batch.length < MAX_BATCH) return dueMs;
    this.send();
    return Number.POSITIVE_INFINITY;
  }

  /** Sends what waits. */
  send(): void {
    if (this.#droppedLines > 0) this.#batch.push({ kind: 'dropped', lines: this.#droppedLines });
    const batch = this.#batch;
    this.#batch = [];
    this.#opened.clear();
    this.#lastDestination.clear();
    this.#lastGame.clear();
    this.#logins.clear();
    this.#lines = 0;
    this.#droppedLines = 0;
    this.#sentAt = this.options.now();
    if (batch.length > 0) {
      this.#sent += 1;
      this.options.post(batch);
    }
    this.options.setWaiting(false);
  }
}

/** A log whose lines the control plane writes. */
export function createEventLog(events: Events): Log {
  return {
    debug: (fields, message) => events.log('debug', fields, message),
    info: (fields, message) => events.log('info', fields, message),
    warn: (fields, message) => events.log('warn', fields, message),
    error: (fields, message) => events.log('error', fields, message),
  };
}
