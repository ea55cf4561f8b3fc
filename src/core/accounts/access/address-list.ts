// Lists of client addresses and networks of an account: parsing, formatting, matching of an address, and who holds an authorized one.
import type { Geo, GeoPaths, GeoRule } from '../../addresses/geo.js';
import { formatGeoRule, matchesGeo, parseGeoRule } from '../../addresses/geo.js';
import type { AddressRange, Cidr, IpBytes } from '../../addresses/ip.js';
import { formatIp, inCidr, parseCidr, parseIp, sortable, sortableRange, unmap } from '../../addresses/ip.js';

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
  'client-entry':
    '{entry} is neither an address (203.0.113.7), a network (203.0.113.0/24, asn:64500) nor a country (country:de)',
  'no-geo-file': '{entry} needs a file in the MaxMind DB format, which {key} in the configuration names',
  'address-too-wide': '{entry} is too wide: at least /{ipv4} (IPv4) or /{ipv6} (IPv6)',
  'too-many-addresses': 'an account has at most {max} addresses and networks ({key})',
  'address-taken': '{entry} overlaps an address of the account {username}',
} as const;

export interface AddressRefusal {
  readonly code: keyof typeof ADDRESS_TEXTS;
  readonly values: Readonly<Record<string, string>>;
}

/** Splits a text such as `203.0.113.7, 2001:db8::/48` without validation. */
export const addressesOfText = (text: string): string[] =>
  text.split(SEPARATORS).filter((entry) => entry !== '');

/** The text for files; `addressesOfText` parses it. */
export const textOfAddresses = (addresses: readonly string[]): string => addresses.join(', ');

export interface AddressRules {
  /** The setting (`socks.…`) that says how many entries. */
  readonly max: `max${string}`;
  /** Prefix length in bits of the largest permitted networks, by the length of an address in bytes. */
  readonly shortestPrefixBits: { readonly 4: number; readonly 16: number };
  /** Whether entries may be countries and numbers of networks (ASN). */
  readonly hasGeo: boolean;
}

/** Parses a list of addresses and networks. Returns them in canonical form, without entries that another entry contains. */
export function readAddressList(
  entries: readonly string[],
  rules: AddressRules,
  max: number,
  geoFiles: GeoPaths,
): { ok: true; addresses: readonly string[] } | { ok: false; refusal: AddressRefusal } {
  const tooMany = refused('too-many-addresses', { max: `${max}`, key: `socks.${rules.max}` });
  if (entries.length > MAX_ENTRIES) return tooMany;
  const read: (Cidr | GeoRule)[] = [];
  for (const text of entries) {
    const entry = readEntry(text.trim(), rules, geoFiles);
    if ('refusal' in entry) return entry;
    read.push(entry);
  }
  const kept = read.filter(
    (entry, at) => !read.some((other, otherAt) => at !== otherAt && isRedundant(entry, at, other, otherAt)),
  );
  if (kept.length > max) return tooMany;
  return { ok: true, addresses: kept.length === 0 ? NO_ADDRESSES : kept.map(formatEntry) };
}

function readEntry(
  entry: string,
  { hasGeo, shortestPrefixBits }: AddressRules,
  geoFiles: GeoPaths,
): Cidr | GeoRule | ReturnType<typeof refused> {
  const rule = hasGeo ? parseGeoRule(entry) : null;
  if (rule !== null)
    return geoFiles[rule.kind] === null ? refused('no-geo-file', { entry, key: `geo.${rule.kind}` }) : rule;
  const block = parseCidr(entry);
  const shown = JSON.stringify(entry.slice(0, MAX_SHOWN_CHARS));
  if (block === null) return refused(hasGeo ? 'client-entry' : 'address', { entry: shown });
  const { 4: ipv4, 16: ipv6 } = shortestPrefixBits;
  if (block.length >= (block.bytes.length === 4 ? ipv4 : ipv6)) return block;
  return refused('address-too-wide', { entry: formatEntry(block), ipv4: `${ipv4}`, ipv6: `${ipv6}` });
}

const refused = (code: AddressRefusal['code'], values: AddressRefusal['values']) =>
  ({ ok: false, refusal: { code, values } }) as const;

/** Whether `other` contains `entry`. Of two equal ones the first one stays. */
function isRedundant(block: Cidr | GeoRule, at: number, other: Cidr | GeoRule, otherAt: number): boolean {
  if ('kind' in block || 'kind' in other) return otherAt < at && formatEntry(other) === formatEntry(block);
  if (!inCidr(block.bytes, other) || other.length > block.length) return false;
  return other.length < block.length || otherAt < at;
}

function formatEntry(entry: Cidr | GeoRule): string {
  if ('kind' in entry) return formatGeoRule(entry);
  const { bytes, length } = entry;
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
    networks.push(formatEntry({ bytes: bytesOf(at, from.length), length: bits - hostBits }));
    at += 1n << BigInt(hostBits);
  }
  return networks.length === 0 ? null : networks;
}

const bitsOf = (number: bigint): number => number.toString(2).length;

const numberOf = (ip: IpBytes): bigint => BigInt(`0x${Buffer.from(ip).toString('hex')}`);

const bytesOf = (number: bigint, length: number): IpBytes =>
  Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex');

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

/**
 * Whether the account may be used from this address. Clients of a Unix socket without a PROXY header have none. A country or network
 * that no file knows allows nobody.
 */
export function isAllowedClient(allowedClients: readonly string[], client: string, geo: Geo): boolean {
  if (allowedClients.length === 0 || includesAddress(allowedClients, client)) return true;
  const ip = parseIp(client);
  return ip !== null && geoRulesOf(allowedClients).some((rule) => matchesGeo(rule, unmap(ip), geo));
}

/** Whether the list has a country or network of which no file is configured: it allows nobody. */
export const lacksGeoFile = (
  { allowedClients }: { readonly allowedClients: readonly string[] },
  files: GeoPaths,
): boolean => geoRulesOf(allowedClients).some(({ kind }) => files[kind] === null);

const geoRulesOf = (allowedClients: readonly string[]): GeoRule[] =>
  allowedClients.flatMap((entry) => parseGeoRule(entry) ?? []);

// ── Authorized addresses, which need no credentials: each belongs to one account ─────────────────────────────────────

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

interface HeldRange<Holder> {
  readonly first: string;
  readonly last: string;
  readonly holder: Holder;
}

/** Finds the holder of an address. Ranges of different holders do not overlap, so that binary search in one sorted list suffices. */
export class AddressIndex<Holder> {
  readonly #ranges: HeldRange<Holder>[] = [];

  find(address: string): Holder | undefined {
    if (this.#ranges.length === 0) return undefined;
    const ip = parseIp(address);
    if (ip === null) return undefined;
    const key = sortable(unmap(ip));
    const range = this.#ranges[this.#countUpTo(key) - 1];
    return range !== undefined && key <= range.last ? range.holder : undefined;
  }

  /** The holder, other than `holder`, of a range that overlaps the address or network `text`; undefined: none. */
  overlap(text: string, holder?: Holder): Holder | undefined {
    const [first, last] = rangeOf(text);
    for (let at = this.#countUpTo(last) - 1; at >= 0; at -= 1) {
      const range = this.#ranges[at];
      if (range === undefined || range.last < first) return undefined;
      if (range.holder !== holder) return range.holder;
    }
    return undefined;
  }

  add(holder: Holder, addresses: readonly string[]): void {
    for (const text of addresses) {
      const [first, last] = rangeOf(text);
      this.#ranges.splice(this.#countUpTo(first), 0, { first, last, holder });
    }
  }

  remove(holder: Holder, addresses: readonly string[]): void {
    for (const text of addresses) {
      const [first] = rangeOf(text);
      // While an address moves from one account to another, both may have it for a moment.
      for (let at = this.#countUpTo(first) - 1; this.#ranges[at]?.first === first; at -= 1) {
        if (this.#ranges[at]?.holder !== holder) continue;
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
