// The country and the network (autonomous system) of an address, which files of the operator know (`geo` in the configuration), and
// rules by them.
import { type IpBytes, parseIp, unmap } from './ip.js';

/** What the files know of unmapped addresses; null: nothing, or there is no such file. */
export interface Geo {
  /** ISO 3166-1 alpha-2, in lower case. */
  country(ip: IpBytes): string | null;
  /** Number of the autonomous system. */
  asn(ip: IpBytes): number | null;
  /** Name of the autonomous system. */
  network(ip: IpBytes): string | null;
}

export const NO_GEO: Geo = { country: () => null, asn: () => null, network: () => null };

export interface GeoRule {
  readonly kind: 'country' | 'asn';
  readonly value: string | number;
}

/** The path of the file for each kind of rule; null: none is configured. */
export type GeoPaths = Readonly<Record<GeoRule['kind'], string | null>>;

/** What is known of a client's address. */
export interface ClientOrigin {
  readonly country: string | null;
  readonly asn: number | null;
  readonly network: string | null;
}

const MAX_ASN = 0xffff_ffff;

/** Parses `country:de` or `asn:64500`; null when it has neither format. */
export function parseGeoRule(text: string): GeoRule | null {
  const [, country, asn] = /^(?:country:([a-z]{2})|asn:([1-9]\d{0,9}))$/i.exec(text) ?? [];
  if (country !== undefined) return { kind: 'country', value: country.toLowerCase() };
  return asn !== undefined && Number(asn) <= MAX_ASN ? { kind: 'asn', value: Number(asn) } : null;
}

export const formatGeoRule = ({ kind, value }: GeoRule): string => `${kind}:${value}`;

/** Whether the address is in that country or network. Looks up only what the rule names. */
export function matchesGeo({ kind, value }: GeoRule, ip: IpBytes, geo: Geo): boolean {
  return geo[kind](ip) === value;
}

/** What the present files know: `present` returns other ones after a change. */
export const presentGeo = (present: () => Geo): Geo => ({
  country: (ip) => present().country(ip),
  asn: (ip) => present().asn(ip),
  network: (ip) => present().network(ip),
});

/** Null: nothing is known. */
export function originOf(address: string, geo: Geo): ClientOrigin | null {
  const ip = parseIp(address);
  if (ip === null) return null;
  const plain = unmap(ip);
  const origin = { country: geo.country(plain), asn: geo.asn(plain), network: geo.network(plain) };
  return Object.values(origin).every((each) => each === null) ? null : origin;
}
