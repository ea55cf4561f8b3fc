// Looks up the country and the network of addresses in files of the MaxMind DB format (version 2); the only user of mmdb-lib.
import { LRUCache } from 'lru-cache';
import { Reader } from 'mmdb-lib';
import type { Geo } from './core/addresses/geo.js';
import { formatIp, type IpBytes } from './core/addresses/ip.js';
import { tryOr } from './core/errors.js';

/** The contents of the files, one copy for all threads; null: no such file. */
export interface GeoFiles {
  readonly country: SharedArrayBuffer | null;
  readonly asn: SharedArrayBuffer | null;
}

/** Fields of a record, as MaxMind and DB-IP, or IPinfo and others, name them. */
interface Fields {
  readonly country?: { readonly iso_code?: unknown };
  readonly registered_country?: { readonly iso_code?: unknown };
  readonly country_code?: unknown;
  readonly autonomous_system_number?: unknown;
  readonly asn?: unknown;
  readonly autonomous_system_organization?: unknown;
  readonly as_name?: unknown;
  readonly name?: unknown;
}

const READ = {
  country({ country, registered_country, country_code }: Fields): string | null {
    const found: unknown = country?.iso_code ?? registered_country?.iso_code ?? country_code ?? country;
    return typeof found === 'string' && found.length === 2 ? found.toLowerCase() : null;
  },
  asn: ({ autonomous_system_number, asn }: Fields): number | null =>
    Number(String(autonomous_system_number ?? asn).replace(/^AS/i, '')) || null,
  network({ autonomous_system_organization, as_name, name }: Fields): string | null {
    const found = autonomous_system_organization ?? as_name ?? name;
    return typeof found === 'string' && found !== '' ? found : null;
  },
};

/** Opens files without a `geoFault`. Lookups never throw: of a damaged record nothing is known. */
export function openGeo({ country, asn }: GeoFiles): Geo {
  const [countries, networks] = [lookup(country), lookup(asn)];
  return {
    country: (ip) => countries(ip, READ.country),
    asn: (ip) => networks(ip, READ.asn),
    network: (ip) => networks(ip, READ.network),
  };
}

/** Decoded records in memory: many networks share one, and to decode one takes longer than to find it. */
const CACHED_RECORDS = 1_000;

function lookup(file: SharedArrayBuffer | null) {
  if (file === null) return () => null;
  const reader = new Reader(Buffer.from(file), { cache: new LRUCache({ max: CACHED_RECORDS }) });
  return <Found>(ip: IpBytes, read: (fields: Fields) => Found): Found | null => {
    // In the tree of a file for IPv4, the bits of an IPv6 address would be those of another address.
    if (ip.length === 16 && reader.metadata.ipVersion === 4) return null;
    return tryOr(null, () => {
      const fields = reader.get(formatIp(ip)) as Fields | null;
      return fields && read(fields);
    });
  };
}

export const knowsIpv6 = (file: SharedArrayBuffer): boolean =>
  new Reader(Buffer.from(file)).metadata.ipVersion === 6;

/** How many networks are looked at: a few may have no country. */
const TRIED_NETWORKS = 10_000;

/** Why a file cannot be used for what it is named for; null: it can. */
export function geoFault(file: SharedArrayBuffer, kind: keyof GeoFiles): string | null {
  try {
    if (hasRecords(file, kind)) return null;
    return kind === 'country' ? 'has no countries' : 'has no numbers of networks (ASN)';
  } catch {
    return 'is not in the MaxMind DB format, or incomplete';
  }
}

/** Whether one of the first networks has what is looked for. Throws when the file is not a database. */
function hasRecords(file: SharedArrayBuffer, kind: keyof GeoFiles): boolean {
  const reader = new Reader(Buffer.from(file));
  const { searchTreeSize, ipVersion, binaryFormatMajorVersion } = reader.metadata;
  if (binaryFormatMajorVersion !== 2 || searchTreeSize > file.byteLength)
    throw new RangeError('no whole tree');
  const bits = ipVersion === 4 ? 32 : 128;
  let address = 0n;
  for (let i = 0; i < TRIED_NETWORKS && address < 1n << BigInt(bits); i += 1) {
    const ip = Buffer.from(address.toString(16).padStart(bits / 4, '0'), 'hex');
    const [fields, prefixLength] = reader.getWithPrefixLength(formatIp(ip));
    if (fields !== null && READ[kind](fields as Fields) !== null) return true;
    address += 1n << BigInt(bits - prefixLength);
  }
  return false;
}
