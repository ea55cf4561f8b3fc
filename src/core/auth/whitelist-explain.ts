// Explains a whitelist: the address range of each entry, and the entry that matches an address.
import { formatIp, type IpBytes, inCidr, parseIp, unmap } from '../ip.js';
import {
  type AddressPrefix,
  entriesOf,
  parseEntry,
  parseWhitelist,
  type WhitelistEntry,
} from './whitelist.js';

export interface ExplainedEntry {
  readonly text: string;
  readonly kind: 'address' | 'wildcard' | 'cidr' | 'everyone' | 'invalid';
  /** First and last address; null for `*` and for invalid entries. */
  readonly first: string | null;
  readonly last: string | null;
}

/** The entries of a list in order, each parsed separately; omits empty entries. */
export const explainWhitelist = (text: string): ExplainedEntry[] =>
  entriesOf(text).map((each) => {
    const entry = parseEntry(each);
    return entry ? explain(entry) : { text: each, kind: 'invalid', first: null, last: null };
  });

/** The first entry that matches `address`; null when none does. */
export function matchingEntry(text: string, address: string): string | null {
  const parsed = parseWhitelist(text);
  return parsed.ok ? (parsed.whitelist.match(address)?.text ?? null) : null;
}

function explain(entry: WhitelistEntry): ExplainedEntry {
  const { text } = entry;
  switch (entry.kind) {
    case 'any':
      return { text, kind: 'everyone', first: null, last: null };
    case 'address':
      return { text, kind: 'address', first: entry.address, last: entry.address };
    case 'cidr': {
      const base = baseOf(text);
      const ends = base && edges(base, (ip) => inCidr(ip, entry.cidr));
      return { text, kind: 'cidr', first: ends?.[0] ?? null, last: ends?.[1] ?? null };
    }
    case 'prefix':
      return {
        text,
        kind: 'wildcard',
        first: edgeOf(entry.prefix, 'first'),
        last: edgeOf(entry.prefix, 'last'),
      };
  }
}

function baseOf(cidr: string): IpBytes | null {
  const ip = parseIp(cidr.slice(0, cidr.lastIndexOf('/')));
  return ip && unmap(ip);
}

/** The first and last address of a block: clears or sets bits, starting with the last, while the address stays in the block. */
function edges(base: IpBytes, isInside: (ip: IpBytes) => boolean): [string, string] {
  const first = Uint8Array.from(base);
  const last = Uint8Array.from(base);
  for (let bit = base.length * 8 - 1; bit >= 0; bit -= 1) {
    const mask = 0x80 >> (bit % 8);
    const at = bit >> 3;
    const flipped = Uint8Array.from(base);
    flipped[at] = (flipped[at] ?? 0) ^ mask;
    if (!isInside(flipped)) break;
    first[at] = (first[at] ?? 0) & ~mask;
    last[at] = (last[at] ?? 0) | mask;
  }
  return [formatIp(first), formatIp(last)];
}

function edgeOf({ family, whole, partial }: AddressPrefix, edge: 'first' | 'last'): string {
  const length = family === 4 ? 4 : 8;
  const highest = family === 4 ? 255 : 0xffff;
  const units = Array.from({ length }, (_, i) => {
    const fixed = whole[i];
    if (fixed !== undefined) return fixed;
    if (i === whole.length && partial !== '') return unitWith(partial, family, edge);
    return edge === 'first' ? 0 : highest;
  });
  if (family === 4) return units.join('.');
  const bytes = Uint8Array.from(units.flatMap((unit) => [unit >> 8, unit & 255]));

  return formatIp(bytes);
}

/** The lowest or highest octet or group whose digits begin with `partial`. */
function unitWith(partial: string, family: 4 | 6, edge: 'first' | 'last'): number {
  const radix = family === 4 ? 10 : 16;
  if (edge === 'first') return Number.parseInt(partial, radix);
  const highest = family === 4 ? 255 : 0xffff;
  for (let unit = highest; unit >= 0; unit -= 1) {
    if (unit.toString(radix).startsWith(partial)) return unit;
  }
  return 0;
}
