// What an account may still transfer before its quota is used up. Its sessions share it, and its worker counts it down.

export class Quota {
  /** In bytes; below 0 by no more than one datagram, or what a client sent ahead of its relay. */
  left: number;
  #isReported = false;
  readonly #onUsedUp: () => void;

  /** @param onUsedUp called once, when `spend` has used it up; must not end a transfer before it returns */
  constructor(left: number, onUsedUp: () => void) {
    this.left = left;
    this.#onUsedUp = onUsedUp;
  }

  /** Counts bytes that are transferred; negative: bytes that were counted and not transferred after all. */
  spend(bytes: number): void {
    this.left -= bytes;
    if (this.left > 0 || this.#isReported) return;
    this.#isReported = true;
    this.#onUsedUp();
  }
}

/** Whose quota a transfer counts for. `quota` may change at any time; null: none. While none is left, nothing is transferred. */
export interface QuotaHolder {
  readonly quota: Quota | null;
}
