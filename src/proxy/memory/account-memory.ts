// The accounts in memory that all threads share. The control plane writes them (plane/account-writer.ts), and tells each worker the
// places of its accounts; nothing is written again where a worker may read. So there are no locks.
import { randomInt } from 'node:crypto';
import type { AccountRecord } from '../plane-settings.js';
import { fnv1a } from './hash.js';
import { type AccountKey, keyAt, packedLength, unpackAccount } from './packed-account.js';

const CHUNK_BITS = 20;
/** An account larger than that has a chunk of its own. */
export const CHUNK_BYTES = 2 ** CHUNK_BITS;

/** Where an account is: the number of its chunk times CHUNK_BYTES, plus its offset there. Never 0. */
export type Place = number;
export const NO_PLACE = 0;
export const chunkOf = (place: Place): number => place >>> CHUNK_BITS;
const offsetOf = (place: Place): number => place & (CHUNK_BYTES - 1);
/** So that nobody can choose names that collide. */
const BASIS = randomInt(2 ** 32);

/** What one thread sees of it. */
export class AccountMemory {
  readonly #chunks: (Buffer | null)[] = [];

  /** @param memory null: no account is in this chunk any more */
  setChunk(chunk: number, memory: SharedArrayBuffer | null): void {
    this.#chunks[chunk] = memory && Buffer.from(memory);
  }

  chunk(place: Place): Buffer {
    const chunk = this.#chunks[chunkOf(place)];
    if (!chunk) throw new Error(`no memory at the place ${place} of an account`);
    return chunk;
  }

  /** The packed account, without a copy. */
  bytes(place: Place): Buffer {
    const start = offsetOf(place);
    const chunk = this.chunk(place);
    return chunk.subarray(start, start + packedLength(chunk, start));
  }

  read(place: Place): AccountRecord {
    return unpackAccount(this.bytes(place));
  }
}

/** Finds accounts by id or user name. Open addressing: what collides is in the next free slot (TAOCP 6.4, algorithms L and R). */
export class AccountIndex {
  #slots = new Uint32Array(64);
  #count = 0;

  constructor(
    private readonly memory: AccountMemory,
    private readonly key: AccountKey,
  ) {}

  get(key: Uint8Array): Place {
    return this.#slots[this.#slotOf(key, 0, key.length)] ?? NO_PLACE;
  }

  /** In place of the account that had this key. */
  set(place: Place): void {
    const slot = this.#slotAt(place);
    if (this.#slots[slot] === NO_PLACE) this.#count += 1;
    this.#slots[slot] = place;
    if (this.#count * 2 > this.#slots.length) this.#grow();
  }

  /** Removes an account, unless another one has its key. */
  remove(place: Place): void {
    let free = this.#slotAt(place);
    if (this.#slots[free] !== place) return;
    this.#count -= 1;
    this.#slots[free] = NO_PLACE;
    // Those behind it that it had displaced come forward.
    const mask = this.#slots.length - 1;
    for (let slot = (free + 1) & mask; ; slot = (slot + 1) & mask) {
      const next = this.#slots[slot] ?? NO_PLACE;
      if (next === NO_PLACE) return;
      if (((slot - this.#homeAt(next)) & mask) < ((slot - free) & mask)) continue;
      this.#slots[free] = next;
      this.#slots[slot] = NO_PLACE;
      free = slot;
    }
  }

  *places(): Generator<Place> {
    for (const place of this.#slots) if (place !== NO_PLACE) yield place;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(4 * old.length);
    for (const place of old) if (place !== NO_PLACE) this.#slots[this.#slotAt(place)] = place;
  }

  #slotAt(place: Place): number {
    const bytes = this.memory.chunk(place);
    const at = keyAt(bytes, offsetOf(place), this.key);
    return this.#slotOf(bytes, at + 1, at + 1 + (bytes[at] ?? 0));
  }

  /** Where the account would be if none had been there before it. */
  #homeAt(place: Place): number {
    const bytes = this.memory.chunk(place);
    const at = keyAt(bytes, offsetOf(place), this.key);
    return fnv1a(bytes, BASIS, at + 1, at + 1 + (bytes[at] ?? 0)) & (this.#slots.length - 1);
  }

  /** The slot of the account whose key is from `start` to before `end`, or the free one that it would get. */
  #slotOf(key: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = fnv1a(key, BASIS, start, end) & mask; ; slot = (slot + 1) & mask) {
      const place = this.#slots[slot] ?? NO_PLACE;
      if (place === NO_PLACE || this.#hasKey(place, key, start, end)) return slot;
    }
  }

  #hasKey(place: Place, key: Uint8Array, start: number, end: number): boolean {
    const bytes = this.memory.chunk(place);
    const at = keyAt(bytes, offsetOf(place), this.key);
    if (bytes[at] !== end - start) return false;
    for (let i = start, own = at + 1; i < end; i += 1, own += 1) if (bytes[own] !== key[i]) return false;
    return true;
  }
}
