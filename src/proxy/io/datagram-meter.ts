// Counts the datagrams of an association and applies the account's rates; the same on both engines.
import { MAX_DATAGRAM_BYTES } from '../protocols/datagram-header.js';
import type { DatagramRelayOptions } from './datagrams.js';
import type { AccountRates } from './rates.js';

export class DatagramMeter {
  readonly counts = { datagramsUp: 0, datagramsDown: 0, unsendable: 0, overRate: 0 };
  readonly #options: Pick<DatagramRelayOptions, 'account' | 'counts' | 'countAt'>;
  #rates: AccountRates | null;

  constructor(options: Pick<DatagramRelayOptions, 'account' | 'counts' | 'countAt' | 'rates'>) {
    this.#options = options;
    this.#rates = options.rates;
  }

  setRates(rates: AccountRates | null): void {
    this.#rates = rates;
  }

  /** Counts a datagram with `length` bytes of data to its destination, unless the rate or the quota forbids it. */
  passUp(length: number): boolean {
    if (this.#rates !== null && !this.#rates.up.pass(length)) {
      this.counts.overRate += 1;
      return false;
    }
    if (!this.#count(0, length)) return false;
    this.counts.datagramsUp += 1;
    return true;
  }

  /** Counts a datagram with `length` bytes of data to the client, unless it is too large or the rate or the quota forbids it. */
  passDown(headerLength: number, length: number): boolean {
    if (headerLength + length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return false;
    }
    if (this.#rates !== null && !this.#rates.down.pass(length)) {
      this.counts.overRate += 1;
      return false;
    }
    if (!this.#count(1, length)) return false;
    this.counts.datagramsDown += 1;
    return true;
  }

  /** False when the quota is used up: the association is about to end. */
  #count(direction: 0 | 1, bytes: number): boolean {
    const { account, counts, countAt } = this.#options;
    if (account.quota !== null) {
      if (account.quota.left <= 0) return false;
      account.quota.spend(bytes);
    }
    counts[countAt + direction] = (counts[countAt + direction] ?? 0) + bytes;
    return true;
  }
}
