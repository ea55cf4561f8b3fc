// Decides when the loop rests for a moment. While tens of thousands of datagrams arrive per second, a loop that reads at once finds
// two or three at a time, and receiving and sending three costs nearly as much as ten. While few arrive, each is moved at once.

/** A rest, in µs: short beside what a datagram takes through any network. */
export const REST_US = 10;
/** Minimum number of datagrams per ms at which the loop rests. */
const BUSY_PER_MS = 32;
/** After a turn that found this many datagrams, the loop does not rest. */
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

  /** Whether to rest after this turn. @param events number of events of the turn: when other sockets were ready too, the loop does not rest */
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
