// The client addresses and networks that are an account without credentials: read, compared, and found by address.
import { type Cidr, formatIp, type IpBytes, inCidr, parseCidr, parseIp, unmap } from '../ip.js';

/** Most accounts have none: they share this. */
export const NO_ADDRESSES: readonly string[] = [];

/** Networks that hold more than these prefixes would let half the Internet in. */
const SHORTEST_PREFIX_BITS = { 4: 8, 16: 16 } as const;

// Separators of addresses in fields and files.
const SEPARATORS = /[\s,;，；、]+/;
const MAX_SHOWN_CHARS = 60;

/** Why a list of addresses is refused, by code. Values stand in braces. */
export const ADDRESS_TEXTS = {
  address: '{entry} is neither an address (203.0.113.7) nor a network (203.0.113.0/24)',
  'address-too-wide': '{entry} is too wide: at least /{ipv4} (IPv4) or /{ipv6} (IPv6)',
  'too-many-addresses': 'an account has at most {max} addresses and networks (socks.maxAuthorizedAddresses)',
  'address-taken': '{entry} overlaps an address of the account {username}',
} as const;

export interface AddressRefusal {
  readonly code: keyof typeof ADDRESS_TEXTS;
  readonly values: Readonly<Record<string, string>>;
}

export const addressTaken = (entry: string, username: string): AddressRefusal => ({
  code: 'address-taken',
  values: { entry, username: JSON.stringify(username) },
});

/** Splits a text such as `203.0.113.7, 2001:db8::/48` without validation. */
export function addressesOfText(text: string): string[] {
  return text.split(SEPARATORS).filter((entry) => entry !== '');
}

/** The text for files; `addressesOfText` parses it. */
export const textOfAddresses = (addresses: readonly string[]): string => addresses.join(', ');

/**
 * Reads a list as an operator writes it: addresses and networks, each in its one text, without those that another one
 * holds. At most `max` of them.
 */
export function readAuthorizedAddresses(
  entries: readonly string[],
  max: number,
):
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly refusal: AddressRefusal } {
  const refused = (code: AddressRefusal['code'], values: AddressRefusal['values']) =>
    ({ ok: false, refusal: { code, values } }) as const;
  const blocks: Cidr[] = [];
  for (const text of entries) {
    const entry = text.trim();
    const block = parseCidr(entry);
    if (block === null) return refused('address', { entry: JSON.stringify(entry.slice(0, MAX_SHOWN_CHARS)) });
    const { 4: ipv4, 16: ipv6 } = SHORTEST_PREFIX_BITS;
    if (block.length < (block.bytes.length === 4 ? ipv4 : ipv6))
      return refused('address-too-wide', { entry: formatBlock(block), ipv4: `${ipv4}`, ipv6: `${ipv6}` });
    blocks.push(block);
  }
  const kept = blocks.filter(
    (block, at) => !blocks.some((other, otherAt) => at !== otherAt && isRedundant(block, at, other, otherAt)),
  );
  if (kept.length > max) return refused('too-many-addresses', { max: `${max}` });
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
