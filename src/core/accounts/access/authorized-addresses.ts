// Authorized addresses: the client addresses and networks that may use an account without credentials.
import { type AddressRange, parseCidr, parseIp, sortable, sortableRange, unmap } from '../../ip.js';
import type { AddressRefusal } from './address-list.js';

export const addressTaken = (entry: string, username: string): AddressRefusal => ({
  code: 'address-taken',
  values: { entry, username: JSON.stringify(username) },
});

/** The range of an address or network that `readAddressLists` returned. Throws a RangeError for any other text. */
export function rangeOf(text: string): AddressRange {
  const block = parseCidr(text);
  if (block === null) throw new RangeError(`not an address or a network: ${text}`);
  return sortableRange(block);
}

interface Owned<Owner> {
  readonly first: string;
  readonly last: string;
  readonly owner: Owner;
}

/** Finds the owner of an address. Ranges of different owners do not overlap, so that binary search in one sorted list suffices. */
export class AddressIndex<Owner> {
  readonly #ranges: Owned<Owner>[] = [];

  find(address: string): Owner | undefined {
    if (this.#ranges.length === 0) return undefined;
    const ip = parseIp(address);
    if (ip === null) return undefined;
    const key = sortable(unmap(ip));
    const range = this.#ranges[this.#countUpTo(key) - 1];
    return range !== undefined && key <= range.last ? range.owner : undefined;
  }

  /** The owner, other than `owner`, of a range that overlaps the address or network `text`; undefined: none. */
  overlap(text: string, owner?: Owner): Owner | undefined {
    const [first, last] = rangeOf(text);
    for (let at = this.#countUpTo(last) - 1; at >= 0; at -= 1) {
      const range = this.#ranges[at];
      if (range === undefined || range.last < first) return undefined;
      if (range.owner !== owner) return range.owner;
    }
    return undefined;
  }

  add(owner: Owner, addresses: readonly string[]): void {
    for (const text of addresses) {
      const [first, last] = rangeOf(text);
      this.#ranges.splice(this.#countUpTo(first), 0, { first, last, owner });
    }
  }

  remove(owner: Owner, addresses: readonly string[]): void {
    for (const text of addresses) {
      const [first] = rangeOf(text);
      // While an address moves from one account to another, both may have it for a moment.
      for (let at = this.#countUpTo(first) - 1; this.#ranges[at]?.first === first; at -= 1) {
        if (this.#ranges[at]?.owner !== owner) continue;
        this.#ranges.splice(at, 1);
        break;
      }
    }
  }

  /** How many ranges begin at `key` or before. */
  #countUpTo(key: string): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.first ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
