// The client addresses and networks that are an account without credentials: read, compared, and found by address.
import { type Cidr, formatIp, type IpBytes, inCidr, parseCidr, parseIp, unmap } from '../ip.js';

/** Most accounts have none: they share this. */
export const NO_ADDRESSES: readonly string[] = [];

/** Networks that hold more than these prefixes would let half the Internet in. */
const SHORTEST_PREFIX_BITS = { 4: 8, 16: 16 } as const;

/** Why a list of addresses is refused. */
export type AddressRefusal =
  | { readonly kind: 'malformed'; readonly entry: string }
  | { readonly kind: 'too-wide'; readonly entry: string }
  | { readonly kind: 'too-many'; readonly max: number }
  /** Another account has an address of it already. */
  | { readonly kind: 'taken'; readonly entry: string; readonly username: string };

export function explainAddressRefusal(refusal: AddressRefusal): string {
  switch (refusal.kind) {
    case 'malformed':
      return `${JSON.stringify(refusal.entry)} is neither an address (203.0.113.7) nor a network (203.0.113.0/24)`;
    case 'too-wide':
      return `${refusal.entry} is too wide: at least /${SHORTEST_PREFIX_BITS[4]} (IPv4) or /${SHORTEST_PREFIX_BITS[16]} (IPv6)`;
    case 'too-many':
      return `an account has at most ${refusal.max} addresses and networks (socks.maxAuthorizedAddresses)`;
    case 'taken':
      return `${refusal.entry} overlaps an address of the account ${JSON.stringify(refusal.username)}`;
  }
}

/**
 * Reads a list as an operator writes it: addresses and networks, each in its one text, without those that another one
 * holds. At most `max` of them.
 */
export function readAuthorizedAddresses(
  entries: readonly string[],
  max: number,
): { readonly ok: true; readonly addresses: readonly string[] } | (AddressRefusal & { readonly ok: false }) {
  const blocks: Cidr[] = [];
  for (const text of entries) {
    const entry = text.trim();
    const block = parseCidr(entry);
    if (block === null) return { ok: false, kind: 'malformed', entry };
    if (block.length < (block.bytes.length === 4 ? SHORTEST_PREFIX_BITS[4] : SHORTEST_PREFIX_BITS[16]))
      return { ok: false, kind: 'too-wide', entry: formatBlock(block) };
    blocks.push(block);
  }
  const kept = blocks.filter(
    (block, at) => !blocks.some((other, otherAt) => at !== otherAt && isRedundant(block, at, other, otherAt)),
  );
  if (kept.length > max) return { ok: false, kind: 'too-many', max };
  return { ok: true, addresses: kept.length === 0 ? NO_ADDRESSES : kept.map(formatBlock) };
}

/** Of two equal blocks the first one stays. */
function isRedundant(block: Cidr, at: number, other: Cidr, otherAt: number): boolean {
  if (!inCidr(block.bytes, other) || other.length > block.length) return false;
  return other.length < block.length || otherAt < at;
}

function formatBlock({ bytes, length }: Cidr): string {
  return length === bytes.length * 8 ? formatIp(bytes) : `${formatIp(bytes)}/${length}`;
}

/** Whether a client's address is one of these. */
export function isAuthorizedAddress(addresses: readonly string[], client: string): boolean {
  if (addresses.length === 0) return false;
  const ip = parseIp(client);
  return (
    ip !== null &&
    addresses.some((text) => {
      const block = parseCidr(text);
      return block !== null && inCidr(ip, block);
    })
  );
}

/** The first and last address of a block as texts that sort like the addresses: `4` or `6`, then hexadecimal digits. */
export interface AddressRange {
  readonly first: string;
  readonly last: string;
}

/** Of an address or network that `readAuthorizedAddresses` returned. */
export function rangeOf(text: string): AddressRange {
  const block = parseCidr(text);
  if (block === null) throw new RangeError(`not an address or a network: ${text}`);
  const { bytes, length } = block;
  const last = Uint8Array.from(
    bytes,
    (byte, at) => byte | (0xff >> Math.min(8, Math.max(0, length - at * 8))),
  );
  return { first: keyOf(bytes), last: keyOf(last) };
}

function keyOf(ip: IpBytes): string {
  return `${ip.length === 4 ? 4 : 6}${Buffer.from(ip).toString('hex')}`;
}

interface Owned<Owner> extends AddressRange {
  readonly owner: Owner;
}

/** Whose an address is. No two owners' addresses overlap, so that one ordered list of ranges answers by halving. */
export class AddressIndex<Owner> {
  readonly #ranges: Owned<Owner>[] = [];

  /** Whose the address is; undefined: nobody's. */
  find(address: string): Owner | undefined {
    if (this.#ranges.length === 0) return undefined;
    const ip = parseIp(address);
    if (ip === null) return undefined;
    const key = keyOf(unmap(ip));
    const range = this.#ranges[this.#countUpTo(key) - 1];
    return range !== undefined && key <= range.last ? range.owner : undefined;
  }

  /** The owner of a range that overlaps `text`, other than `owner`; undefined: there is none. */
  overlap(text: string, owner?: Owner): Owner | undefined {
    const { first, last } = rangeOf(text);
    for (let at = this.#countUpTo(last) - 1; at >= 0; at -= 1) {
      const range = this.#ranges[at];
      if (range === undefined || range.last < first) return undefined;
      if (range.owner !== owner) return range.owner;
    }
    return undefined;
  }

  add(owner: Owner, addresses: readonly string[]): void {
    for (const text of addresses) {
      const range = rangeOf(text);
      this.#ranges.splice(this.#countUpTo(range.first), 0, { ...range, owner });
    }
  }

  remove(owner: Owner, addresses: readonly string[]): void {
    for (const text of addresses) {
      const { first } = rangeOf(text);
      // While two accounts exchange an address, both may have it for a moment.
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
