// How many datagrams of one association wait for something, and how much memory they hold.

/** The most data that waits for one thing; with large datagrams it is reached before their number is. */
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
