// Writes the live sessions of this process to the database, in batches: a session that has been open for about half a second is
// written, and written again when it has changed. Failed writes are retried.

import { viewOf } from './live-sessions.js';
import type { LiveSessionStore, Session, SessionObserver } from './session.js';

/** Byte counts are written at every tenth flush. */
const FLUSHES_PER_COUNT = 10;
const MAX_PER_WRITE = 1_000;

type RateOf = (sessionId: string) => { readonly up: number; readonly down: number };

export class SessionReporter implements Partial<SessionObserver> {
  /** Every live session, with its bytes at the last write; null: not written yet. */
  readonly #live = new Map<Session, number | null>();
  /** Sessions opened since the last flush, which are not written yet. */
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

  /** The database has it under the process before this one. */
  resumed(session: Session): void {
    this.opened(session);
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

  /** Writes all sessions again, because the database may have lost them. */
  rewrite(): void {
    for (const [session, written] of this.#live) if (written !== null) this.#due.add(session);
  }

  /**
   * Call it twice a second, one call at a time. A session is written at the second call after it was opened. Rejects with the error
   * of the database, and keeps everything for the next call then.
   */
  async flush(): Promise<void> {
    this.#flushes += 1;
    if (this.#flushes % FLUSHES_PER_COUNT === 0) this.#addActive();
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

  #addActive(): void {
    for (const [session, written] of this.#live) {
      if (written !== null && session.bytesUp + session.bytesDown !== written) this.#due.add(session);
    }
  }

  async #write(due: readonly Session[], ended: readonly string[]): Promise<void> {
    for (let start = 0; start < Math.max(due.length, ended.length); start += MAX_PER_WRITE) {
      const batch = due
        .slice(start, start + MAX_PER_WRITE)
        .map((session) => ({ session, view: viewOf(session, this.#rateOf(session.id)) }));
      await this.#store.write(
        batch.map(({ view }) => view),
        ended.slice(start, start + MAX_PER_WRITE),
      );
      for (const { session, view } of batch) {
        if (this.#live.has(session)) this.#live.set(session, view.bytesUp + view.bytesDown);
      }
    }
  }
}
