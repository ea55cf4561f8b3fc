// Limits TLS handshakes: concurrent ones in total and per source, and new ones per second and source. A handshake costs this
// server about a millisecond of CPU, and the client almost nothing.
import { sourceOf } from '../../core/addresses/ip.js';
import { addToSet, deleteFromSet } from '../../core/maps.js';
import type { TlsThreadStart } from './messages.js';

type Limits = Pick<TlsThreadStart, 'maxHandshakes' | 'maxHandshakesPerSource' | 'maxHandshakesPerSecond'>;

export interface Handshaking {
  destroy(): void;
}

export class TlsHandshakes {
  /** Oldest first. */
  readonly #waiting = new Map<Handshaking, string>();
  readonly #ofSource = new Map<string, Set<Handshaking>>();
  /** Number of handshakes begun in this second. */
  #begun = new Map<string, number>();
  #refused = 0;

  constructor(private readonly limits: Limits) {}

  /** Adds a connection; false: close it. */
  begin(connection: Handshaking, address: string): boolean {
    const source = sourceOf(address);
    const begun = (this.#begun.get(source) ?? 0) + 1;
    if (begun > this.limits.maxHandshakesPerSecond) {
      this.#refused += 1;
      return false;
    }
    this.#begun.set(source, begun);
    const others = this.#ofSource.get(source);
    if (others && others.size >= this.limits.maxHandshakesPerSource) this.#evict(others.keys());
    else if (this.#waiting.size >= this.limits.maxHandshakes) this.#evict(this.#waiting.keys());
    this.#waiting.set(connection, source);
    addToSet(this.#ofSource, source, connection);
    return true;
  }

  /** Removes a connection whose handshake has ended. Unknown connections are ignored. */
  end(connection: Handshaking): void {
    const source = this.#waiting.get(connection);
    if (source === undefined) return;
    this.#waiting.delete(connection);
    deleteFromSet(this.#ofSource, source, connection);
  }

  /** Call it every second. Returns how many connections the limits closed in it. */
  nextSecond(): number {
    const refused = this.#refused;
    this.#refused = 0;
    this.#begun = new Map();
    return refused;
  }

  #evict(candidates: Iterator<Handshaking>): void {
    const { value: oldest } = candidates.next();
    if (!oldest) return;
    this.#refused += 1;
    this.end(oldest);
    oldest.destroy();
  }
}
