// The byte counts of a worker's sessions, in shared memory that the control plane reads.

const PER_SLOT_BYTES = 24;

export interface SessionCounts {
  /** Bytes up of slot i at 2i, down at 2i + 1. */
  readonly bytes: Float64Array;
  /** Generation of the slot: incremented for each new session. */
  readonly generations: Int32Array;
  readonly slots: number;
}

export function allocateSessionCounts(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * PER_SLOT_BYTES);
}

export function viewSessionCounts(memory: SharedArrayBuffer): SessionCounts {
  const slots = Math.floor(memory.byteLength / PER_SLOT_BYTES);
  return {
    bytes: new Float64Array(memory, 0, 2 * slots),
    generations: new Int32Array(memory, 16 * slots, slots),
    slots,
  };
}

/** The free slots of a worker. The slot that has been free longest is used next. */
export class SlotPool {
  /** A ring of free slots; slots that were never used come first. */
  readonly #freed: number[] = [];
  #head = 0;
  #unused = 0;

  constructor(private readonly counts: SessionCounts) {}

  /** A slot with zero bytes; -1 when there is none. @param isUnused only one that was never used: they come in their order */
  acquire(isUnused = false): number {
    const slot = this.#next(isUnused);
    if (slot === -1) return -1;
    const { bytes, generations } = this.counts;
    generations[slot] = ((generations[slot] ?? 0) + 1) | 0;
    bytes[2 * slot] = 0;
    bytes[2 * slot + 1] = 0;
    return slot;
  }

  release(slot: number): void {
    this.#freed.push(slot);
  }

  #next(isUnused: boolean): number {
    // A slot is reused as late as possible, so that its last counts can still be read.
    const isLate = this.#freed.length - this.#head > 1024 && !isUnused;
    if (isLate || this.#unused >= this.counts.slots) {
      const slot = this.#freed[this.#head];
      if (slot === undefined) return -1;
      this.#head += 1;
      if (this.#head >= 4096) {
        this.#freed.splice(0, this.#head);
        this.#head = 0;
      }
      return slot;
    }
    this.#unused += 1;
    return this.#unused - 1;
  }
}
