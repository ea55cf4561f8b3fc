// An entry of the egress lists (hosts and ports), and the domain names of requests (RFC 1928 §5, ATYP 3): only names that every
// resolver interprets in the same way, and none that some resolver would parse as an IP address.
import { type PortRange, parsePortRange } from '../addresses/endpoints.js';
import { type Geo, type GeoRule, matchesGeo, parseGeoRule } from '../addresses/geo.js';
import { type Cidr, type IpBytes, inCidr, parseCidr, parseIp, unmap } from '../addresses/ip.js';

/** A destination to compare with an entry. `host` is a validated name; null when the client requested an address. */
export interface Candidate {
  readonly host: string | null;
  readonly ip: IpBytes;
  readonly port: number;
}

/** A parsed entry. `target` null: any host. `ports` null: any port. */
export interface EgressEntry {
  readonly target: Cidr | HostPattern | GeoRule | null;
  readonly ports: PortRange | null;
}

interface HostPattern {
  readonly host: string;
  /** `*.example.com` matches subdomains at any depth, but not `example.com`. */
  readonly under: boolean;
}

/** The accepted formats, for error messages. */
export const ENTRY_FORMS =
  'an address or block (10.1.2.0/24, 2001:db8::/32), a name (db.example, *.example.com), a country (country:de), a network ' +
  '(asn:64500), or any host (*), with or without :port or :first-last (IPv6 then in brackets: [2001:db8::/32]:443); any host needs a port';

const PORT_LISTS: ReadonlyMap<number | string, readonly string[]> = new Map([
  // Between mail servers: what spam uses. Mail programs send by 465 and 587, where servers ask for a login (RFC 8314 §3.3).
  ['smtp', ['25']],
  ['submission', ['465', '587']],
  // What worms look for: telnet and its usual substitute, SMB with NetBIOS and RPC, remote desktops.
  ['scans', ['23', '135', '137-139', '445', '2323', '3389']],
]);

export const DENIED_PORTS_FORMS =
  'a port from 1 to 65535, a range such as "6881-6889", or a list: ' +
  Array.from(PORT_LISTS, ([name, ports]) => `${name} (${ports.join(', ')})`).join(', ');

/** Parses ports that are denied at every host: a port, a range or a named list. None: it is none of them. */
export function parseDeniedPorts(text: number | string): readonly PortRange[] {
  const texts = PORT_LISTS.get(text) ?? [String(text)];
  return texts.flatMap((each) => {
    const range = parsePortRange(each);
    return range ? [range] : [];
  });
}

/** The one of `denied` that covers all of the ports; undefined: none does. */
export function coveringPorts<Text extends number | string>(
  denied: readonly Text[],
  ports: PortRange | null = null,
): Text | undefined {
  if (ports === null) return undefined;
  return denied.find((text) =>
    parseDeniedPorts(text).some(([from, to]) => from <= ports[0] && ports[1] <= to),
  );
}

/** Parses an entry; null when it has none of the formats. */
export function parseEgressEntry(text: string): EgressEntry | null {
  // More than one colon outside brackets can only be an IPv6 address, which then has no port.
  const unbracketed = parseCidr(text);
  if (unbracketed) return { target: unbracketed, ports: null };
  const [, targetText = '', portText] =
    /^(\[[^\]]*\]|(?:country|asn):[^:]*|[^:[\]]*)(?::(.*))?$/i.exec(text) ?? [];
  const ports = portText === undefined ? null : parsePortRange(portText);
  if (portText !== undefined && !ports) return null;
  if (targetText === '' || targetText === '*') return ports && { target: null, ports };
  const target = parseTarget(targetText);
  return target && { target, ports };
}

function parseTarget(text: string): EgressEntry['target'] {
  if (text.startsWith('[')) return text.includes(':') ? parseCidr(text.slice(1, -1)) : null;
  return parseGeoRule(text) ?? parseCidr(text) ?? parseHostPattern(text);
}

function parseHostPattern(text: string): HostPattern | null {
  const under = text.startsWith('*.');
  const checked = checkDestinationName(Buffer.from(under ? text.slice(2) : text), { allowUnderscore: true });
  return checked.ok && 'name' in checked ? { host: checked.name, under } : null;
}

export function matchesEntry(
  { target, ports }: EgressEntry,
  { host, ip, port }: Candidate,
  geo: Geo,
): boolean {
  if (ports && (port < ports[0] || port > ports[1])) return false;
  if (target === null) return true;
  if ('bytes' in target) return inCidr(ip, target);
  if (!('host' in target)) return matchesGeo(target, ip, geo);
  if (host === null) return false;
  return target.under ? host.endsWith(`.${target.host}`) : host === target.host;
}

/** Why a name is refused; 'numeric': inet_aton or a browser would parse it as an IPv4 address. */
export type NameRefusal = 'empty' | 'bad-character' | 'numeric' | 'too-long';

export type NameCheck =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: true; readonly ip: IpBytes }
  | { readonly ok: false; readonly reason: NameRefusal };

// RFC 1035 §2.3.4, without the trailing dot.
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
// Letters, digits, hyphen (RFC 952, RFC 1123 §2.1), a hyphen neither first nor last.
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const LABEL_OR_UNDERSCORE = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
// WHATWG URL §3.5 "ends in a number": such a host is an IPv4 address or nothing.
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * Validates the raw bytes of a domain destination. Returns a canonical IPv4 or an IPv6 address (also in brackets; no zone) as `ip`,
 * unmapped. Returns a name in lower case without its trailing dot: labels of 1 to 63 letters, digits and hyphens, at most 253
 * characters; `allowUnderscore` allows `_` in labels. Refuses raw UTF-8 and accepts punycode.
 */
export function checkDestinationName(raw: Uint8Array, options: { allowUnderscore: boolean }): NameCheck {
  // latin1 decodes each byte to one character. Bytes over 0x7f become characters that no label allows.
  const text = Buffer.from(raw).toString('latin1');
  if (text === '' || text === '.') return { ok: false, reason: 'empty' };
  const ip = parseLiteral(text);
  if (ip) return { ok: true, ip: unmap(ip) };
  return checkName(text, options);
}

function parseLiteral(text: string): IpBytes | null {
  const bracketed = /^\[(.*:.*)\]$/.exec(text)?.[1];
  const literal = bracketed ?? text;
  return literal.includes('%') ? null : parseIp(literal);
}

function checkName(text: string, { allowUnderscore }: { allowUnderscore: boolean }): NameCheck {
  // ASCII only: toLowerCase on the rest of latin1 changes nothing that a label would then allow.
  const name = text.replace(/\.$/, '').toLowerCase();
  const labels = name.split('.');
  const label = allowUnderscore ? LABEL_OR_UNDERSCORE : LABEL;
  if (!labels.every((each) => label.test(each))) return { ok: false, reason: 'bad-character' };
  if (name.length > MAX_NAME_LENGTH) return { ok: false, reason: 'too-long' };
  if (labels.some((each) => each.length > MAX_LABEL_LENGTH)) return { ok: false, reason: 'too-long' };
  if (NUMBER.test(labels.at(-1) ?? '')) return { ok: false, reason: 'numeric' };
  return { ok: true, name };
}
