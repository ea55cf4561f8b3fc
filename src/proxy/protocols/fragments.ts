// Putting the fragments of a client's datagram together, RFC 1928 §7. One object an association.
import { type DatagramHeader, MAX_DATAGRAM_BYTES } from './datagram-header.js';

/** How long a sequence may take from its first fragment, in ms. RFC 1928 §7: no less than 5 seconds. */
export const REASSEMBLY_TIMEOUT_MS = 5_000;
const ATYP_AT = 3;
const LAST_FRAGMENT = 0x80;
const POSITION = 0x7f;

/** Bytes that may wait in unfinished sequences, over all associations. */
export interface FragmentMemory {
  /** False when there is no room for `bytes` more. */
  tryAcquire(bytes: number): boolean;
  release(bytes: number): void;
}

/** @param count adds to the bytes that are taken, and returns how many are then */
export function createFragmentMemory(limitBytes: number, count: (bytes: number) => number): FragmentMemory {
  return {
    tryAcquire(bytes) {
      if (count(bytes) <= limitBytes) return true;
      count(-bytes);
      return false;
    },
    release(bytes) {
      count(-bytes);
    },
  };
}

export interface FragmentOutcome {
  /** The data of a sequence that is now complete, in order; null while it is not. */
  readonly data: Buffer | null;
  /** Fragments that were given up, perhaps this one among them. */
  readonly lost: number;
}

/**
 * Takes fragments in the order of their arrival. RFC 1928 §7 gives up a sequence when its time is over and when a lower
 * number arrives than the highest so far. So a number that was skipped can never be made good: a sequence with a gap is
 * given up at once, which frees its memory and changes nothing for the client.
 */
export class Reassembly {
  readonly #memory: FragmentMemory;
  #parts: Buffer[] = [];
  /** Of the data so far; and of the datagrams that carried it, which is what is taken from the shared memory. */
  #dataBytes = 0;
  #heldBytes = 0;
  #startedAt = 0;
  /** ATYP, DST.ADDR and DST.PORT: the same in all fragments of a sequence. */
  #destination: Buffer | null = null;

  constructor(memory: FragmentMemory) {
    this.#memory = memory;
  }

  /** Whether a sequence is under way. */
  get isActive(): boolean {
    return this.#parts.length > 0;
  }

  /**
   * Takes in a datagram whose `header.fragment` is not 0.
   * @param now ms, from any clock that only goes forward
   */
  add(datagram: Buffer, header: DatagramHeader, now: number): FragmentOutcome {
    const position = header.fragment & POSITION;
    const destination = datagram.subarray(ATYP_AT, header.length);
    const data = datagram.subarray(header.length);
    let lost = this.expire(now);
    if (this.#isRepeated(position, destination, data)) return { data: null, lost };

    if (position !== this.#parts.length + 1 || this.#destination?.equals(destination) === false) {
      lost += this.abandon();
      if (position !== 1) return { data: null, lost: lost + 1 };
    }
    if (this.#dataBytes + data.length > MAX_DATAGRAM_BYTES || !this.#memory.tryAcquire(datagram.length)) {
      return { data: null, lost: lost + this.abandon() + 1 };
    }
    if (position === 1) this.#startedAt = now;
    // Copied: the engine overwrites its buffer.
    this.#destination ??= Buffer.from(destination);
    this.#parts.push(Buffer.from(data));
    this.#dataBytes += data.length;
    this.#heldBytes += datagram.length;
    if ((header.fragment & LAST_FRAGMENT) === 0) return { data: null, lost };

    const whole = Buffer.concat(this.#parts, this.#dataBytes);
    this.abandon();
    return { data: whole, lost };
  }

  /** Gives up a sequence whose time is over; returns how many fragments that were. */
  expire(now: number): number {
    return this.isActive && now - this.#startedAt >= REASSEMBLY_TIMEOUT_MS ? this.abandon() : 0;
  }

  /** Gives up what waits; returns how many fragments that were. */
  abandon(): number {
    const lost = this.#parts.length;
    this.#memory.release(this.#heldBytes);
    this.#parts = [];
    this.#dataBytes = 0;
    this.#heldBytes = 0;
    this.#destination = null;
    return lost;
  }

  /** UDP may deliver a datagram twice; a sender that starts again with other data is no repetition. */
  #isRepeated(position: number, destination: Buffer, data: Buffer): boolean {
    if (position !== this.#parts.length) return false;
    return this.#parts.at(-1)?.equals(data) === true && this.#destination?.equals(destination) === true;
  }
}
