// Writes accounts into the memory that the workers read. A changed account is written anew; what was there before it is lost until all
// accounts of its chunk are gone or have been moved.
import { AccountMemory, CHUNK_BYTES, chunkOf, type Place } from '../memory/account-memory.js';
import { packedAccounts } from '../memory/packed-account.js';

interface Chunk {
  readonly memory: SharedArrayBuffer;
  /** Bytes that are written, and bytes of accounts that are still there. */
  filled: number;
  live: number;
}

/** Before the first account of a chunk, so that no place is 0. */
const START = 8;

export class AccountWriter {
  readonly memory = new AccountMemory();
  readonly #chunks = new Map<number, Chunk>();
  #current = -1;

  /** @param onChunk a chunk is there, or (null) not any more: the workers must know */
  constructor(private readonly onChunk: (chunk: number, memory: SharedArrayBuffer | null) => void) {}

  *chunks(): Generator<[chunk: number, memory: SharedArrayBuffer]> {
    for (const [number, { memory }] of this.#chunks) yield [number, memory];
  }

  /** Returns where the packed account is now. */
  add(account: Uint8Array): Place {
    const last = this.#chunks.get(this.#current);
    const chunk = last && last.filled + account.length <= CHUNK_BYTES ? last : this.#addChunk(account.length);
    const place = this.#current * CHUNK_BYTES + chunk.filled;
    this.memory.chunk(place).set(account, chunk.filled);
    chunk.filled += account.length;
    chunk.live += account.length;
    return place;
  }

  /** The account is no longer there. Its bytes are, until `drop`. */
  free(place: Place): void {
    const chunk = this.#chunks.get(chunkOf(place));
    if (chunk) chunk.live -= this.memory.bytes(place).length;
  }

  /** The places of all that has been written to chunks that are less than half in use: move those that are still accounts. */
  *sparse(): Generator<[chunk: number, places: Place[]]> {
    for (const [number, { memory, filled, live }] of this.#chunks) {
      if (number === this.#current || live * 2 >= filled) continue;
      const places: Place[] = [];
      let offset = START;
      for (const { length } of packedAccounts(Buffer.from(memory, START, filled - START))) {
        places.push(number * CHUNK_BYTES + offset);
        offset += length;
      }
      yield [number, places];
    }
  }

  /** Nothing in the chunk is an account any more, and the workers know that. */
  drop(chunk: number): void {
    this.#chunks.delete(chunk);
    this.#announce(chunk, null);
  }

  #addChunk(bytes: number): Chunk {
    const size = Math.max(CHUNK_BYTES, START + bytes);
    const chunk = { memory: new SharedArrayBuffer(size), filled: START, live: 0 };
    let number = 0;
    while (this.#chunks.has(number)) number += 1;
    this.#chunks.set(number, chunk);
    this.#current = number;
    this.#announce(number, chunk.memory);
    return chunk;
  }

  #announce(chunk: number, memory: SharedArrayBuffer | null): void {
    this.memory.setChunk(chunk, memory);
    this.onChunk(chunk, memory);
  }
}
