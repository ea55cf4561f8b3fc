// Which descriptors a native worker has open, in memory that the main thread sees too: it closes what a worker that has
// died left open, and what was on its way to it.

const FREE = 0;
const OWNED = 1;

/** Memory for descriptors below `maxDescriptors`. */
export function allocateOwnedDescriptors(maxDescriptors: number): SharedArrayBuffer {
  return new SharedArrayBuffer(maxDescriptors + 1);
}

/** One byte a descriptor; the last one says that the worker is dead. */
export class OwnedDescriptors {
  readonly #bytes: Uint8Array;
  readonly #deadAt: number;

  constructor(memory: SharedArrayBuffer) {
    this.#bytes = new Uint8Array(memory);
    this.#deadAt = this.#bytes.length - 1;
  }

  /** The worker itself has opened a descriptor, or taken one over. */
  add(fd: number): void {
    this.#bytes[fd] = OWNED;
  }

  remove(fd: number): void {
    this.#bytes[fd] = FREE;
  }

  /**
   * Another worker passes a descriptor on: it is this worker's before the message is on its way. False when the worker is
   * dead: the descriptor stays the caller's.
   */
  tryGive(fd: number): boolean {
    if (fd >= this.#deadAt) return true;
    Atomics.store(this.#bytes, fd, OWNED);
    if (Atomics.load(this.#bytes, this.#deadAt) === 0) return true;
    // The main thread may close it at this moment: who takes the mark away has it.
    return Atomics.exchange(this.#bytes, fd, FREE) === FREE;
  }

  /** The worker is dead: hands each of its descriptors to `close`, once. */
  closeAll(close: (fd: number) => void): void {
    Atomics.store(this.#bytes, this.#deadAt, 1);
    for (let fd = this.#bytes.indexOf(OWNED); fd !== -1 && fd < this.#deadAt; ) {
      if (Atomics.exchange(this.#bytes, fd, FREE) === OWNED) close(fd);
      fd = this.#bytes.indexOf(OWNED, fd + 1);
    }
  }
}
