// Limits the queued datagrams of one association, by number and by size.

/** Maximum size of the queued data, in bytes; large datagrams reach it before the maximum number. */
const MAX_BYTES = 128 * 1024;

export class Backlog {
  readonly #maxDatagrams: number;
  #datagrams = 0;
  #bytes = 0;

  constructor(maxDatagrams: number) {
    this.#maxDatagrams = maxDatagrams;
  }

  /** Counts one more datagram of `bytes` until `release`; false when there is no room for it. */
  tryAcquire(bytes: number): boolean {
    if (this.#datagrams >= this.#maxDatagrams || this.#bytes + bytes > MAX_BYTES) return false;
    this.#datagrams += 1;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#datagrams -= 1;
    this.#bytes -= bytes;
  }
}
