// Allowed clients: the client addresses, networks and countries from which an account may log in. An empty list allows every client.
import { type Geo, type GeoPaths, type GeoRule, matchesGeo, parseGeoRule } from '../../geo.js';
import { parseIp, unmap } from '../../ip.js';
import { includesAddress } from './address-list.js';

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

/** The countries and networks (ASN) in a list. */
const geoRulesOf = (allowedClients: readonly string[]): GeoRule[] =>
  allowedClients.flatMap((entry) => parseGeoRule(entry) ?? []);
