// The queue of heartbeat entries: first in, first out; when it is full, `beat` entries are dropped first. It consists of two rings,
// one for beats and one for the other entries, so that the entry to drop is found in constant time.
import type { Heartbeat } from './heartbeat.js';

export class HeartbeatQueue {
  readonly #beats = new Ring();
  readonly #others = new Ring();
  // Numbers order the entries of both rings: they increase at the back and decrease at the front.
  #nextAtBack = 0;
  #nextAtFront = -1;

  get size(): number {
    return this.#beats.size + this.#others.size;
  }

  push(entry: Heartbeat): void {
    this.#ringOf(entry).push(entry, this.#nextAtBack);
    this.#nextAtBack += 1;
  }

  unshift(entry: Heartbeat): void {
    this.#ringOf(entry).unshift(entry, this.#nextAtFront);
    this.#nextAtFront -= 1;
  }

  shift(): Heartbeat | undefined {
    return this.#beats.firstOrder() < this.#others.firstOrder() ? this.#beats.shift() : this.#others.shift();
  }

  /** Removes and returns the least valuable entry: the oldest beat, or the oldest entry when there is no beat. */
  shiftLeastValuable(): Heartbeat | undefined {
    return this.#beats.shift() ?? this.#others.shift();
  }

  removeAccount(accountId: string): void {
    this.#beats.removeAccount(accountId);
    this.#others.removeAccount(accountId);
  }

  #ringOf(entry: Heartbeat): Ring {
    return entry.kind === 'beat' ? this.#beats : this.#others;
  }
}

const INITIAL_CAPACITY = 1024;

/** A double-ended queue in a ring buffer that is replaced only to grow, so that an entry costs no allocation. */
class Ring {
  #entries: (Heartbeat | undefined)[] = new Array(INITIAL_CAPACITY).fill(undefined);
  #orders = new Float64Array(INITIAL_CAPACITY);
  #head = 0;
  size = 0;

  push(entry: Heartbeat, order: number): void {
    this.#growIfFull();
    this.#put(this.#slot(this.size), entry, order);
    this.size += 1;
  }

  unshift(entry: Heartbeat, order: number): void {
    this.#growIfFull();
    this.#head = this.#slot(-1);
    this.#put(this.#head, entry, order);
    this.size += 1;
  }

  shift(): Heartbeat | undefined {
    if (this.size === 0) return undefined;
    const entry = this.#entries[this.#head];
    this.#entries[this.#head] = undefined;
    this.#head = this.#slot(1);
    this.size -= 1;
    return entry;
  }

  /** Number of the first entry; infinite when there is none. */
  firstOrder(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.#orders[this.#head] ?? 0);
  }

  removeAccount(accountId: string): void {
    const size = this.size;
    for (let i = 0; i < size; i += 1) {
      const order = this.firstOrder();
      const entry = this.shift();
      if (entry && entry.accountId !== accountId) this.push(entry, order);
    }
  }

  #slot(offset: number): number {
    return (this.#head + offset) & (this.#entries.length - 1);
  }

  #put(slot: number, entry: Heartbeat, order: number): void {
    this.#entries[slot] = entry;
    this.#orders[slot] = order;
  }

  #growIfFull(): void {
    const capacity = this.#entries.length;
    if (this.size < capacity) return;
    const entries: (Heartbeat | undefined)[] = new Array(capacity * 2).fill(undefined);
    const orders = new Float64Array(capacity * 2);
    for (let i = 0; i < this.size; i += 1) {
      entries[i] = this.#entries[this.#slot(i)];
      orders[i] = this.#orders[this.#slot(i)] ?? 0;
    }
    this.#entries = entries;
    this.#orders = orders;
    this.#head = 0;
  }
}
