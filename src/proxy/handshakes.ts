// Connections that have not come as far as a request, or were refused: how many there may be, in all and from one source, over all
// workers.
// When there are too many, the one that has waited longest has to go. A real client needs a few milliseconds here and
// is hardly ever the one, while sockets that only wait lose their places to those who come.
import type { WorkerMessage } from './messages.js';
import type { Gauges } from './shared.js';
import { type SourceTable, sourceKey } from './source-table.js';

/** A connection in its handshake. */
export interface Waiting {
  evict(): void;
}

export interface HandshakesOptions {
  readonly maxHandshakes: number;
  readonly maxHandshakesPerSource: number;
  /** Of this worker, among `workers`. */
  readonly index: number;
  readonly workers: number;
  /** Counts handshakes over all workers. */
  readonly gauges: Pick<Gauges, 'add' | 'getOf'>;
  readonly sources: SourceTable;
  readonly sendToPeer: (worker: number, message: WorkerMessage) => void;
}

export class Handshakes {
  readonly #options: HandshakesOptions;
  /** Of this worker, the one that has waited longest first; with its source, null where it has none. */
  readonly #waiting = new Map<Waiting, string | null>();
  readonly #ofSource = new Map<string, Set<Waiting>>();
  #evicted = 0;

  constructor(options: HandshakesOptions) {
    this.#options = options;
  }

  /**
   * Counts a connection in. `source` null: not known yet, or it says nothing; then only the number of all counts.
   * False when there is no room and nobody can make it: the connection is to be closed. One that is here already stays.
   */
  add(connection: Waiting, source: string | null): boolean {
    if (this.#waiting.has(connection)) return true;
    if (this.#count(1) > this.#options.maxHandshakes && !this.#makeRoom(null)) {
      this.#count(-1);
      return false;
    }
    this.#waiting.set(connection, null);
    return source === null || this.setSource(connection, source);
  }

  /** Its source has become known. False when the source has no room: the connection is to be closed. */
  setSource(connection: Waiting, source: string): boolean {
    if (this.#countSource(source, 1) > this.#options.maxHandshakesPerSource && !this.#makeRoom(source)) {
      this.#countSource(source, -1);
      this.delete(connection);
      return false;
    }
    this.#waiting.set(connection, source);
    const others = this.#ofSource.get(source);
    if (others) others.add(connection);
    else this.#ofSource.set(source, new Set([connection]));
    return true;
  }

  /** Its handshake has ended, one way or the other; one that is not here (any more) is passed over. */
  delete(connection: Waiting): void {
    const source = this.#waiting.get(connection);
    if (source === undefined) return;
    this.#waiting.delete(connection);
    this.#count(-1);
    if (source === null) return;
    this.#countSource(source, -1);
    const others = this.#ofSource.get(source);
    others?.delete(connection);
    if (others?.size === 0) this.#ofSource.delete(source);
  }

  /** Ends the one of this worker that has waited longest, of a source or (null) of any; false when there is none. */
  evictOldest(source: string | null): boolean {
    const [oldest] = this.#candidates(source);
    if (!oldest) return false;
    this.delete(oldest);
    this.#evicted += 1;
    oldest.evict();
    return true;
  }

  /** Ends the oldest one for another worker, or asks the next worker to, `hops` times. */
  evictForPeer(source: string | null, hops: number): void {
    if (this.evictOldest(source) || hops === 0) return;
    const { index, workers, sendToPeer } = this.#options;
    sendToPeer((index + 1) % workers, { kind: 'evict-handshake', source, hops: hops - 1 });
  }

  /** Ends all of this worker. */
  evictAll(): void {
    for (const connection of [...this.#waiting.keys()]) connection.evict();
  }

  /** How many had to go since the last call. */
  takeEvicted(): number {
    const taken = this.#evicted;
    this.#evicted = 0;
    return taken;
  }

  #makeRoom(source: string | null): boolean {
    const [own] = this.#candidates(source);
    return this.#evictElsewhere(source, own !== undefined) || this.evictOldest(source);
  }

  /**
   * Asks the worker that has the most handshakes to end its oldest one. False when this worker is to do it.
   * @param hasOwn this worker has one of the source
   */
  #evictElsewhere(source: string | null, hasOwn: boolean): boolean {
    const { index, workers, gauges, sendToPeer } = this.#options;
    if (workers === 1) return false;
    let most = index;
    for (let worker = 0; worker < workers; worker += 1) {
      if (gauges.getOf(worker, 'handshakes') > gauges.getOf(most, 'handshakes')) most = worker;
    }
    if (most === index && hasOwn) return false;
    const other = most === index ? (index + 1) % workers : most;
    sendToPeer(other, { kind: 'evict-handshake', source, hops: workers - 1 });
    return true;
  }

  #candidates(source: string | null): Iterable<Waiting> {
    return source === null ? this.#waiting.keys() : (this.#ofSource.get(source) ?? []);
  }

  /** Counts over all workers; returns the number then. */
  #count(by: number): number {
    return this.#options.gauges.add(this.#options.index, 'handshakes', by);
  }

  #countSource(source: string, by: number): number {
    const key = sourceKey(source);
    if (key === null) return 0;
    return this.#options.sources.update(key, (row) => {
      row.count = Math.max(0, row.count + by);
      return row.count;
    });
  }
}
