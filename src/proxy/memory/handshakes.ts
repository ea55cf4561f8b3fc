// Limits connections without a complete request, and refused ones, in total and per source, over all workers. At the limit
// the oldest is closed. A real client needs only a few milliseconds, so it is rarely the oldest; idle sockets are.
import { addToSet, deleteFromSet } from '../../core/maps.js';
import type { WorkerBase } from '../worker/base.js';
import { type SourceTable, sourceKey } from './source-table.js';

/** A connection in its handshake. */
export interface Waiting {
  close(): void;
}

type Base = Pick<WorkerBase, 'settings' | 'index' | 'workers' | 'gauges' | 'sendToPeer'>;

export class Handshakes {
  /** Handshakes of this worker with their sources (null: none), oldest first. */
  readonly #waiting = new Map<Waiting, string | null>();
  readonly #ofSource = new Map<string, Set<Waiting>>();
  /** Those of `#waiting` that have got their refusal. */
  readonly #refused = new Set<Waiting>();
  #evicted = 0;
  #isClosed = false;

  constructor(
    private readonly base: Base,
    private readonly sources: SourceTable,
  ) {}

  /**
   * Adds a connection. `source` null: not known yet, or there is none; then only the total limit applies.
   * False when the limit is reached and no other handshake can be closed, or after `close`: close the connection. Repeated calls do nothing.
   */
  add(connection: Waiting, source: string | null): boolean {
    if (this.#waiting.has(connection)) return true;
    if (this.#isClosed) return false;
    if (this.#count(1) > this.base.settings.maxHandshakes && !this.#makeRoom(null)) {
      this.#count(-1);
      return false;
    }
    this.#waiting.set(connection, null);
    return source === null || this.setSource(connection, source);
  }

  /** The same for a connection that has got its refusal: it is the first to be closed where only the total matters. */
  addRefused(connection: Waiting, source: string | null): boolean {
    if (!this.add(connection, source)) return false;
    this.#refused.add(connection);
    return true;
  }

  /** Closes a handshake so that another connection finds a place. False: there is none here, and another worker was asked. */
  makePlace(): boolean {
    if (this.evictOldest(null)) return true;
    if (this.base.gauges.get('handshakes') > 0) this.#evictElsewhere(null, false);
    return false;
  }

  /** Sets the source of a connection. False when the limit of the source is reached: close the connection. */
  setSource(connection: Waiting, source: string): boolean {
    if (this.#countSource(source, 1) > this.base.settings.maxHandshakesPerSource && !this.#makeRoom(source)) {
      this.#countSource(source, -1);
      this.delete(connection);
      return false;
    }
    this.#waiting.set(connection, source);
    addToSet(this.#ofSource, source, connection);
    return true;
  }

  /** Removes a connection whose handshake has ended. Unknown connections are ignored. */
  delete(connection: Waiting): void {
    const source = this.#waiting.get(connection);
    if (source === undefined) return;
    this.#waiting.delete(connection);
    this.#refused.delete(connection);
    this.#count(-1);
    if (source === null) return;
    this.#countSource(source, -1);
    deleteFromSet(this.#ofSource, source, connection);
  }

  /** Closes the oldest handshake of this worker, of a source or (null) of any; false when there is none. */
  evictOldest(source: string | null): boolean {
    const [oldest] = this.#candidates(source);
    if (!oldest) return false;
    this.delete(oldest);
    this.#evicted += 1;
    oldest.close();
    return true;
  }

  /** Closes the oldest handshake for another worker, or passes the request to the next worker, at most `hops` times. */
  evictForPeer(source: string | null, hops: number): void {
    if (this.evictOldest(source) || hops === 0) return;
    const { index, workers, sendToPeer } = this.base;
    sendToPeer((index + 1) % workers, { kind: 'evict-handshake', source, hops: hops - 1 });
  }

  /** Closes all handshakes of this worker, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#waiting.keys()]) connection.close();
  }

  /** Number of handshakes closed by the limits since the last call. */
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
   * Asks the worker with the most handshakes to close its oldest. False: this worker must do it.
   * @param hasOwn this worker has a handshake of the source
   */
  #evictElsewhere(source: string | null, hasOwn: boolean): boolean {
    const { index, workers, gauges, sendToPeer } = this.base;
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
    if (source !== null) return this.#ofSource.get(source) ?? [];
    return this.#refused.size > 0 ? this.#refused : this.#waiting.keys();
  }

  /** Adds to the number of handshakes of all workers; returns the new number. */
  #count(by: number): number {
    return this.base.gauges.add(this.base.index, 'handshakes', by);
  }

  #countSource(source: string, by: number): number {
    const key = sourceKey(source);
    if (key === null) return 0;
    return this.sources.update(key, (row) => {
      row.count = Math.max(0, row.count + by);
      return row.count;
    });
  }
}
