// Reassembles the fragments of a client's datagrams (RFC 1928 §7). One object for each association.
import { type DatagramHeader, MAX_DATAGRAM_BYTES } from './datagram-header.js';

/** Reassembly timer, from the first fragment, in ms. RFC 1928 §7: no less than 5 seconds. */
export const REASSEMBLY_TIMEOUT_MS = 5_000;
const ATYP_AT = 3;
const LAST_FRAGMENT = 0x80;
const POSITION = 0x7f;

export type FragmentMemory = ReturnType<typeof createFragmentMemory>;

/** The memory for incomplete sequences of all associations. @param count adds to the bytes that are taken, and returns how many are then */
export function createFragmentMemory(limitBytes: number, count: (bytes: number) => number) {
  return {
    /** Reserves `bytes`; false when the limit is reached. */
    tryAcquire(bytes: number): boolean {
      if (count(bytes) <= limitBytes) return true;
      count(-bytes);
      return false;
    },
    release(bytes: number): void {
      count(-bytes);
    },
  };
}

export interface FragmentOutcome {
  /** The data of the sequence when it is complete; else null. */
  readonly data: Buffer | null;
  /** Number of dropped fragments, possibly including this one. */
  readonly lost: number;
}

/**
 * Accepts fragments in the order of their arrival. RFC 1928 §7 drops a sequence when its timer expires, and when a lower
 * number arrives than the highest so far. A skipped number therefore cannot arrive later: a sequence with a gap is dropped
 * immediately, which frees its memory and makes no difference for the client.
 */
export class Reassembly {
  #parts: Buffer[] = [];
  /** Of the data so far; and of the datagrams that carried it, which is what is taken from the shared memory. */
  #dataBytes = 0;
  #heldBytes = 0;
  #startedAt = 0;
  /** ATYP, DST.ADDR and DST.PORT: the same in all fragments of a sequence. */
  #destination: Buffer | null = null;

  constructor(private readonly memory: FragmentMemory) {}

  /** Whether a sequence is incomplete. */
  get isActive(): boolean {
    return this.#parts.length > 0;
  }

  /**
   * Adds a datagram whose `header.fragment` is not 0.
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
    if (this.#dataBytes + data.length > MAX_DATAGRAM_BYTES || !this.memory.tryAcquire(datagram.length)) {
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

  /** Drops a sequence whose timer has expired; returns its number of fragments. */
  expire(now: number): number {
    return this.isActive && now - this.#startedAt >= REASSEMBLY_TIMEOUT_MS ? this.abandon() : 0;
  }

  /** Drops the incomplete sequence; returns its number of fragments. */
  abandon(): number {
    const lost = this.#parts.length;
    this.memory.release(this.#heldBytes);
    this.#parts = [];
    this.#dataBytes = 0;
    this.#heldBytes = 0;
    this.#destination = null;
    return lost;
  }

  /** UDP may deliver a datagram twice; a fragment with other data is not a duplicate. */
  #isRepeated(position: number, destination: Buffer, data: Buffer): boolean {
    if (position !== this.#parts.length) return false;
    return this.#parts.at(-1)?.equals(data) === true && this.#destination?.equals(destination) === true;
  }
}
