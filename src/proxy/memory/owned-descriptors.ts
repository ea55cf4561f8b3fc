// The file descriptors that a native worker owns, in shared memory: the main thread closes those of a dead worker, and those
// that were being passed to it.

const FREE = 0;
const OWNED = 1;

export function allocateOwnedDescriptors(maxDescriptors: number): SharedArrayBuffer {
  return new SharedArrayBuffer(maxDescriptors + 1);
}

/** One byte for each descriptor; the last byte is set when the worker is dead. */
export class OwnedDescriptors {
  readonly #bytes: Uint8Array;
  readonly #deadAt: number;

  constructor(memory: SharedArrayBuffer) {
    this.#bytes = new Uint8Array(memory);
    this.#deadAt = this.#bytes.length - 1;
  }

  /** The worker has opened or adopted a descriptor. */
  add(fd: number): void {
    this.#bytes[fd] = OWNED;
  }

  remove(fd: number): void {
    this.#bytes[fd] = FREE;
  }

  /**
   * Another worker passes a descriptor to this one; call it before the message is sent. False when this worker is dead: the
   * caller still owns the descriptor.
   */
  tryGive(fd: number): boolean {
    if (fd >= this.#deadAt) return true;
    Atomics.store(this.#bytes, fd, OWNED);
    if (Atomics.load(this.#bytes, this.#deadAt) === 0) return true;
    // The main thread may close it at the same moment: the thread that clears the mark owns the descriptor.
    return Atomics.exchange(this.#bytes, fd, FREE) === FREE;
  }

  /** The worker is dead: calls `close` once with each of its descriptors. */
  closeAll(close: (fd: number) => void): void {
    Atomics.store(this.#bytes, this.#deadAt, 1);
    for (let fd = this.#bytes.indexOf(OWNED); fd !== -1 && fd < this.#deadAt; ) {
      if (Atomics.exchange(this.#bytes, fd, FREE) === OWNED) close(fd);
      fd = this.#bytes.indexOf(OWNED, fd + 1);
    }
  }
}
