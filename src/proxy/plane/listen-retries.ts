// The listeners that a restarted thread could not open: each is tried again until it is open.
import type { Log } from '../../core/log.js';

/** Delay before a listener is tried again, in ms. Meanwhile another program may have its port, or no descriptor may be free. */
const RETRY_MS = 1_000;

export class ListenRetries {
  readonly #log: Pick<Log, 'warn' | 'error'>;
  readonly #thread: string;
  /** By the id of the listener. */
  readonly #timers = new Map<number, NodeJS.Timeout>();

  /** @param thread its name in the log */
  constructor(log: Pick<Log, 'warn' | 'error'>, thread: string) {
    this.#log = log;
    this.#thread = thread;
  }

  /** The number of closed listeners. */
  get size(): number {
    return this.#timers.size;
  }

  /** The thread could not open the listener: calls `again` later. Logged once for all attempts. */
  failed(id: number, code: string, again: () => void): void {
    if (!this.#timers.has(id))
      this.#log.error({ thread: this.#thread, code }, 'restarted thread cannot listen; will retry');
    this.#timers.set(id, setTimeout(again, RETRY_MS).unref());
  }

  /** The thread has opened the listener. */
  opened(id: number, port: number): void {
    if (this.#timers.delete(id))
      this.#log.warn({ thread: this.#thread, port }, 'restarted thread listens again');
  }

  /** Tries none of them again. */
  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
