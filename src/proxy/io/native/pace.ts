// When to rest for a moment: while datagrams come by the ten thousands a second, a loop that looks for them at once finds two
// or three at a time, and receiving and sending three costs nearly as much as ten. While few come, each is moved at once.

/** A rest, in µs: short beside what a datagram takes through any network. */
export const REST_US = 10;
/** As often in a ms datagrams must come. */
const BUSY_PER_MS = 32;
/** A turn that found so many needs no rest. */
const ENOUGH = 16;

export class Pace {
  #windowAt = 0;
  #inWindow = 0;
  #isBusy = false;
  #inTurn = 0;
  #sockets = 0;

  /** A socket has been read for `datagrams` datagrams. */
  received(datagrams: number): void {
    this.#sockets += 1;
    this.#inTurn += datagrams;
  }

  /** After each turn: whether to rest. @param events of the turn; where others than datagrams came, nothing waits for more */
  isRestDue(events: number, nowMs: number): boolean {
    if (this.#sockets === 0) return false;
    this.#inWindow += this.#inTurn;
    if (nowMs - this.#windowAt >= 1) {
      this.#isBusy = this.#inWindow >= BUSY_PER_MS * (nowMs - this.#windowAt);
      this.#windowAt = nowMs;
      this.#inWindow = 0;
    }
    const isDue = this.#isBusy && this.#inTurn < ENOUGH && this.#sockets === events;
    this.#sockets = 0;
    this.#inTurn = 0;
    return isDue;
  }
}
