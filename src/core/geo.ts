// Rules by the country or the network (autonomous system) of an address, which files of the operator know (`geo` in the
// configuration).
import type { IpBytes } from './ip.js';

/** What the files know of unmapped addresses; null: nothing, or there is no such file. */
export interface Geo {
  /** ISO 3166-1 alpha-2, in lower case. */
  country(ip: IpBytes): string | null;
  /** Number of the autonomous system. */
  asn(ip: IpBytes): number | null;
}

export const NO_GEO: Geo = { country: () => null, asn: () => null };

export interface GeoRule {
  readonly kind: keyof Geo;
  readonly value: string | number;
}

const MAX_ASN = 0xffff_ffff;

/** Parses `country:de` or `asn:64500`; null when it has neither format. */
export function parseGeoRule(text: string): GeoRule | null {
  const [, country, asn] = /^(?:country:([a-z]{2})|asn:([1-9]\d{0,9}))$/i.exec(text) ?? [];
  if (country !== undefined) return { kind: 'country', value: country.toLowerCase() };
  return asn !== undefined && Number(asn) <= MAX_ASN ? { kind: 'asn', value: Number(asn) } : null;
}

/** Whether the address is in that country or network. Looks up only what the rule names. */
export function matchesGeo({ kind, value }: GeoRule, ip: IpBytes, geo: Geo): boolean {
  return geo[kind](ip) === value;
}
