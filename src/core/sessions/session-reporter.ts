// Keeps the database's list of this process's sessions: those that have lived for a while are written, and written again when they
// have changed. Many at once; what could not be written is tried again.
import type { LiveSessionStore } from './live-session-store.js';
import { viewOf } from './live-sessions.js';
import type { SessionObserver } from './observer.js';
import type { Session } from './session.js';

/** Byte counts are written at every so many-th flush. */
const COUNTS_EVERY = 10;
/** Sessions in one statement. */
const AT_ONCE = 1_000;

type RateOf = (sessionId: string) => { readonly up: number; readonly down: number };

export class SessionReporter implements Partial<SessionObserver> {
  /** Every live one, with the bytes that were last written of it; null: it has not been written. */
  readonly #live = new Map<Session, number | null>();
  /** Opened since the last flush: too young to be written. */
  #young = new Set<Session>();
  #due = new Set<Session>();
  #writing = new Set<Session>();
  #ended = new Set<string>();
  #flushes = 0;
  readonly #store: Pick<LiveSessionStore, 'write'>;
  readonly #rateOf: RateOf;

  constructor(store: Pick<LiveSessionStore, 'write'>, rateOf: RateOf) {
    this.#store = store;
    this.#rateOf = rateOf;
  }

  opened(session: Session): void {
    this.#live.set(session, null);
    this.#young.add(session);
  }

  destinationChanged(session: Session): void {
    this.#changed(session);
  }

  gameChanged(session: Session): void {
    this.#changed(session);
  }

  #changed(session: Session): void {
    if (this.#live.has(session) && !this.#young.has(session)) this.#due.add(session);
  }

  closed(session: Session): void {
    const written = this.#live.get(session) ?? null;
    this.#live.delete(session);
    this.#young.delete(session);
    this.#due.delete(session);
    if (written !== null || this.#writing.has(session)) this.#ended.add(session.id);
  }

  /** The database has lost what was written. */
  writeAnew(): void {
    for (const [session, written] of this.#live) if (written !== null) this.#due.add(session);
  }

  /** To be called twice a second, one call at a time: a session is written at the second call after it was opened. */
  async flush(): Promise<void> {
    this.#flushes += 1;
    if (this.#flushes % COUNTS_EVERY === 0) this.#addMoved();
    const ended = this.#ended;
    this.#writing = this.#due;
    this.#due = this.#young;
    this.#young = new Set();
    this.#ended = new Set();
    try {
      await this.#write([...this.#writing], [...ended]);
    } catch (error) {
      for (const session of this.#writing) if (this.#live.has(session)) this.#due.add(session);
      for (const id of ended) this.#ended.add(id);
      throw error;
    } finally {
      this.#writing = new Set();
    }
  }

  #addMoved(): void {
    for (const [session, written] of this.#live) {
      if (written !== null && session.bytesUp + session.bytesDown !== written) this.#due.add(session);
    }
  }

  async #write(due: readonly Session[], ended: readonly string[]): Promise<void> {
    for (let start = 0; start < Math.max(due.length, ended.length); start += AT_ONCE) {
      const now = due
        .slice(start, start + AT_ONCE)
        .map((session) => ({ session, view: viewOf(session, this.#rateOf(session.id)) }));
      await this.#store.write(
        now.map(({ view }) => view),
        ended.slice(start, start + AT_ONCE),
      );
      for (const { session, view } of now) {
        if (this.#live.has(session)) this.#live.set(session, view.bytesUp + view.bytesDown);
      }
    }
  }
}
