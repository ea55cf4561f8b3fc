// What a worker tells the control plane, in batches: at once when nobody waits for the worker, else a few milliseconds
// later. Sessions that opened and closed within one batch are reported once. When the control plane is behind, log lines are
// given up first; logins and ends of sessions never are.

import type { LoginOutcome } from '../core/accounts/login-log.js';
import type { Log } from '../core/log.js';
import type { SessionSummary } from '../core/sessions/session.js';
import type { Destination } from './destination.js';
import type { SessionFacts, WorkerEvent } from './messages.js';

/** Events are sent at the latest after this: a message costs more than what is in it. */
const LATEST_MS = 25;
/** A batch of so many is sent at once. */
const BATCH = 256;
/** Log lines that may wait in one batch. */
const MAX_LINES = 1_000;
/** Batches that may be on their way: beyond that the control plane is behind, and events wait here. */
const MAX_UNREAD = 64;
/** A worker that has nothing else to do sends what is new after this, unless it has just sent something. */
const SPACING_MS = 2;
/** Just: so many ms ago. */
const JUST_MS = 50;

export interface EventsOptions {
  readonly post: (events: readonly WorkerEvent[]) => void;
  /** Shows the control plane that events wait, in shared memory. */
  readonly setWaiting: (isWaiting: boolean) => void;
  /** How many batches the control plane has read. */
  readonly batchesRead: () => number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** The wall clock, in ms since the Unix epoch. */
  readonly date: () => number;
}

export type SessionChange = Extract<WorkerEvent, { kind: 'session-destination' | 'session-game' }>;

interface Logins {
  readonly kind: 'logins';
  readonly outcome: LoginOutcome;
  readonly username: string;
  readonly accountId: string | null;
  readonly client: string;
  count: number;
  at: number;
}

export class Events {
  readonly #options: EventsOptions;
  #batch: WorkerEvent[] = [];
  /** Where in the batch a session was opened, by its slot. */
  readonly #opened = new Map<number, number>();
  /** Where in the batch a session's last destination and last game stand, by its slot. */
  readonly #last = {
    'session-destination': new Map<number, number>(),
    'session-game': new Map<number, number>(),
  };
  readonly #logins = new Map<string, Logins>();
  #sent = 0;
  /** When the first event of the batch came. */
  #beganAt = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #droppedLines = 0;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /**
   * Something new of a session. While the control plane keeps up each one arrives; in a long batch a session's last one of
   * a kind takes the place of the one before, so that what waits is bounded by the number of sessions.
   */
  sessionChanged(event: SessionChange): void {
    const last = this.#last[event.kind];
    const at = last.get(event.slot);
    if (at !== undefined && this.#batch.length >= BATCH) {
      this.#batch[at] = event;
      return;
    }
    last.set(event.slot, this.#batch.length);
    this.push(event);
  }

  push(event: WorkerEvent): void {
    if (this.#batch.length === 0) {
      this.#beganAt = this.#options.now();
      this.#options.setWaiting(true);
    }
    this.#batch.push(event);
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
    // The slot may have been another session's earlier in this batch.
    for (const last of Object.values(this.#last)) last.delete(session.slot);
    this.#opened.set(session.slot, this.#batch.length);
    this.push({ kind: 'session-opened', session });
  }

  sessionClosed(slot: number, destination: Destination, via: string | null, summary: SessionSummary): void {
    const at = this.#opened.get(slot);
    const opened = at === undefined ? undefined : this.#batch[at];
    if (at === undefined || opened?.kind !== 'session-opened') {
      this.push({ kind: 'session-closed', slot, destination, via, summary });
      return;
    }
    this.#opened.delete(slot);
    // What was reported of it between stays behind it: the control plane passes over sessions it does not know.
    this.#batch[at] = {
      kind: 'session-passed',
      session: { ...opened.session, destination, via, gameId: summary.gameId },
      summary,
    };
  }

  login(outcome: LoginOutcome, username: string, accountId: string | null, client: string): void {
    const at = this.#options.date();
    const key = `${outcome} ${client} ${username}`;
    const known = this.#logins.get(key);
    if (known) {
      known.count += 1;
      known.at = at;
      return;
    }
    const logins: Logins = { kind: 'logins', outcome, username, accountId, client, count: 1, at };
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
    if (this.#sent - this.#options.batchesRead() >= MAX_UNREAD) return LATEST_MS;
    const now = this.#options.now();
    const isQuiet = isIdle && this.#beganAt - this.#sentAt > JUST_MS;
    const dueMs = this.#beganAt + (isQuiet ? SPACING_MS : LATEST_MS) - now;
    if (dueMs > 0 && this.#batch.length < BATCH) return dueMs;
    this.send();
    return Number.POSITIVE_INFINITY;
  }

  /** Sends what waits. */
  send(): void {
    if (this.#droppedLines > 0) this.#batch.push({ kind: 'dropped', lines: this.#droppedLines });
    const batch = this.#batch;
    this.#batch = [];
    this.#opened.clear();
    for (const last of Object.values(this.#last)) last.clear();
    this.#logins.clear();
    this.#lines = 0;
    this.#droppedLines = 0;
    this.#sentAt = this.#options.now();
    if (batch.length > 0) {
      this.#sent += 1;
      this.#options.post(batch);
    }
    this.#options.setWaiting(false);
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
