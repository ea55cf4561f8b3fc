// Lists of client addresses and networks of an account: parsing, formatting, and matching of an address.
import { type Cidr, formatIp, type IpBytes, inCidr, parseCidr, parseIp, unmap } from '../../ip.js';

/** The shared value of accounts without addresses, which are most accounts. */
export const NO_ADDRESSES: readonly string[] = [];

// Separators of addresses in fields and files.
const SEPARATORS = /[\s,;，；、]+/;
const MAX_SHOWN_CHARS = 60;
/** Longer lists are refused before parsing: each entry is compared with every other, and a line of a file can hold thousands. */
const MAX_ENTRIES = 256;

/** The text of each refusal, by code, with placeholders in braces. */
export const ADDRESS_TEXTS = {
  address: '{entry} is neither an address (203.0.113.7) nor a network (203.0.113.0/24)',
  'address-too-wide': '{entry} is too wide: at least /{ipv4} (IPv4) or /{ipv6} (IPv6)',
  'too-many-addresses': 'an account has at most {max} addresses and networks ({key})',
  'address-taken': '{entry} overlaps an address of the account {username}',
} as const;

export interface AddressRefusal {
  readonly code: keyof typeof ADDRESS_TEXTS;
  readonly values: Readonly<Record<string, string>>;
}

/** Splits a text such as `203.0.113.7, 2001:db8::/48` without validation. */
export function addressesOfText(text: string): string[] {
  return text.split(SEPARATORS).filter((entry) => entry !== '');
}

/** The text for files; `addressesOfText` parses it. */
export const textOfAddresses = (addresses: readonly string[]): string => addresses.join(', ');

/** What a list of an account may have. */
export interface AddressRules {
  /** The setting (`socks.…`) that says how many entries. */
  readonly max: `max${string}`;
  /** Prefix length in bits of the largest permitted networks, by the length of an address in bytes. */
  readonly shortestPrefixBits: { readonly 4: number; readonly 16: number };
  /** Whether sellers may fill the list. */
  readonly isForSellers: boolean;
}

/** Parses a list of addresses and networks. Returns them in canonical form, without entries that another entry contains. */
export function readAddressList(
  entries: readonly string[],
  { max: name, shortestPrefixBits }: AddressRules,
  max: number,
): { ok: true; addresses: readonly string[] } | { ok: false; refusal: AddressRefusal } {
  const key = `socks.${name}`;
  const refused = (code: AddressRefusal['code'], values: AddressRefusal['values']) =>
    ({ ok: false, refusal: { code, values } }) as const;
  if (entries.length > MAX_ENTRIES) return refused('too-many-addresses', { max: `${max}`, key });
  const blocks: Cidr[] = [];
  for (const text of entries) {
    const entry = text.trim();
    const block = parseCidr(entry);
    if (block === null) return refused('address', { entry: JSON.stringify(entry.slice(0, MAX_SHOWN_CHARS)) });
    const { 4: ipv4, 16: ipv6 } = shortestPrefixBits;
    if (block.length < (block.bytes.length === 4 ? ipv4 : ipv6))
      return refused('address-too-wide', { entry: formatBlock(block), ipv4: `${ipv4}`, ipv6: `${ipv6}` });
    blocks.push(block);
  }
  const kept = blocks.filter(
    (block, at) => !blocks.some((other, otherAt) => at !== otherAt && isRedundant(block, at, other, otherAt)),
  );
  if (kept.length > max) return refused('too-many-addresses', { max: `${max}`, key });
  return { ok: true, addresses: kept.length === 0 ? NO_ADDRESSES : kept.map(formatBlock) };
}

/** Whether `other` contains `block`. Of two equal blocks the first one stays. */
function isRedundant(block: Cidr, at: number, other: Cidr, otherAt: number): boolean {
  if (!inCidr(block.bytes, other) || other.length > block.length) return false;
  return other.length < block.length || otherAt < at;
}

function formatBlock({ bytes, length }: Cidr): string {
  return length === bytes.length * 8 ? formatIp(bytes) : `${formatIp(bytes)}/${length}`;
}

/**
 * The shortest list of networks that covers exactly the addresses from `first` to `last`. Null when one of them is not an address,
 * they are of different families, or `last` is before `first`.
 */
export function networksOfRange(first: string, last: string): string[] | null {
  const [from, to] = [parseIp(first), parseIp(last)].map((ip) => ip && unmap(ip));
  if (!from || !to || from.length !== to.length) return null;
  const bits = from.length * 8;
  const end = numberOf(to);
  const networks: string[] = [];
  for (let at = numberOf(from); at <= end; ) {
    // The largest network that begins at `at` and does not extend beyond the end.
    const hostBits = Math.min(at === 0n ? bits : bitsOf(at & -at) - 1, bitsOf(end - at + 1n) - 1);
    networks.push(formatBlock({ bytes: bytesOf(at, from.length), length: bits - hostBits }));
    at += 1n << BigInt(hostBits);
  }
  return networks.length === 0 ? null : networks;
}

const bitsOf = (number: bigint): number => number.toString(2).length;

const numberOf = (ip: IpBytes): bigint => BigInt(`0x${Buffer.from(ip).toString('hex')}`);

const bytesOf = (number: bigint, length: number): IpBytes =>
  Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex');

/** Whether a client's address is in the list. */
export function includesAddress(addresses: readonly string[], client: string): boolean {
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
