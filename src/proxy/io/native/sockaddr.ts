// Converts endpoints to and from socket addresses of the kernel: struct sockaddr_in and struct sockaddr_in6 of a little-endian
// machine.
import { networkInterfaces } from 'node:os';
import { type Endpoint, formatIp, formatIpv4, parseIp, unmap } from '../../../core/addresses/ip.js';
import { tryOr } from '../../../core/errors.js';
import { intern } from '../../interned-strings.js';
import { AF_INET, AF_INET6, SOCKADDR_BYTES } from './libc.js';

const IPV4_BYTES = 16;
const IPV6_BYTES = 28;
// sin_port and sin6_port are in network order; sin6_scope_id is in the machine's.
const PORT_AT = 2;
const IPV4_AT = 4;
const IPV6_AT = 8;
const SCOPE_AT = 24;
export const SOCKADDR_WORDS = SOCKADDR_BYTES / 4;

const UNIX_ENDPOINT: Endpoint = { address: '', port: 0 };

/**
 * Writes the sockaddr of an endpoint to the beginning of `into`, SOCKADDR_BYTES long.
 * @returns its length; 0 when the address cannot be read or no interface has the name of its zone
 */
export function writeSockaddr(into: Uint8Array, { address, port }: Endpoint): number {
  const zoneAt = address.indexOf('%');
  const scope = zoneAt < 0 ? 0 : scopeOf(address.slice(zoneAt + 1));
  const parsed = parseIp(address);
  if (parsed === null || scope === null) return 0;
  const ip = unmap(parsed);
  into.fill(0, 0, SOCKADDR_BYTES);
  into[0] = ip.length === 4 ? AF_INET : AF_INET6;
  into[PORT_AT] = port >> 8;
  into[PORT_AT + 1] = port & 0xff;
  if (ip.length === 4) {
    into.set(ip, IPV4_AT);
    return IPV4_BYTES;
  }
  into.set(ip, IPV6_AT);
  for (let i = 0; i < 4; i += 1) into[SCOPE_AT + i] = (scope >>> (8 * i)) & 0xff;
  return IPV6_BYTES;
}

/** The endpoint of the sockaddr at `at`: IPv4-mapped as IPv4, a link-local address with its zone, and '' and 0 for a Unix socket. */
export function readSockaddr(bytes: Uint8Array, at = 0): Endpoint {
  const family = bytes[at];
  const port = ((bytes[at + PORT_AT] ?? 0) << 8) | (bytes[at + PORT_AT + 1] ?? 0);
  if (family === AF_INET) return { address: intern(formatIpv4(bytes, at + IPV4_AT)), port };
  if (family !== AF_INET6) return UNIX_ENDPOINT;
  const ip = unmap(bytes.subarray(at + IPV6_AT, at + IPV6_AT + 16));
  if (ip.length === 4) return { address: formatIpv4(ip, 0), port };
  let scope = 0;
  for (let i = 3; i >= 0; i -= 1) scope = scope * 256 + (bytes[at + SCOPE_AT + i] ?? 0);
  return { address: scope === 0 ? formatIp(ip) : `${formatIp(ip)}%${zoneOf(scope)}`, port };
}

/** Whether the sockaddr at word `at` has an IPv6 address. */
export const isIpv6 = (words: Uint32Array, at = 0): boolean => ((words[at] ?? 0) & 0xffff) === AF_INET6;

export function sockaddrLength(words: Uint32Array, at = 0): number {
  return isIpv6(words, at) ? IPV6_BYTES : IPV4_BYTES;
}

/** A map key, equal for equal addresses and ports. A number for IPv4, so that a lookup allocates nothing. */
export function sockaddrKey(words: Uint32Array, at = 0): number | string {
  const family = words[at] ?? 0;
  if ((family & 0xffff) === AF_INET) return (words[at + 1] ?? 0) * 0x1_0000 + (family >>> 16);
  // Omits word 1, the flow label.
  return `${family >>> 16} ${words.subarray(at + 2, at + SOCKADDR_WORDS).join()}`;
}

/** Whether two sockaddrs have the same address and port. */
export function isSameSockaddr(a: Uint32Array, aAt: number, b: Uint32Array, bAt: number): boolean {
  if (a[aAt] !== b[bAt]) return false;
  if (!isIpv6(a, aAt)) return a[aAt + 1] === b[bAt + 1];
  for (let i = 2; i < SOCKADDR_WORDS; i += 1) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}

/** Names of interfaces by scope id, as of the last lookup. */
let zones = new Map<number, string>();

function lookUpZones(): void {
  const interfaces = tryOr(null, networkInterfaces);
  // The call fails when there is no free descriptor: keep the known names.
  if (interfaces === null) return;
  zones = new Map();
  for (const [name, addresses] of Object.entries(interfaces)) {
    for (const each of addresses ?? [])
      if (each.family === 'IPv6' && each.scopeid) zones.set(each.scopeid, name);
  }
}

/** The name of a zone, or its number when there is no such interface (RFC 4007 §11.2). */
function zoneOf(scope: number): string {
  if (!zones.has(scope)) lookUpZones();
  return zones.get(scope) ?? String(scope);
}

function scopeOf(zone: string): number | null {
  if (/^[0-9]{1,9}$/.test(zone)) return Number(zone);
  lookUpZones();
  for (const [scope, name] of zones) if (name === zone) return scope;
  return null;
}
