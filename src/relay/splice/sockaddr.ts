// Socket addresses as the kernel has them, in 32-bit words of a little-endian machine: what datagrams come from and go to.

import { formatIp, parseIp } from '../../core/ip.js';
import type { Endpoint } from '../../core/sessions/datagram-relay.js';

const AF_INET = 2;
const AF_INET6 = 10;
/** struct sockaddr_in and struct sockaddr_in6. */
const IPV4_BYTES = 16;
const IPV6_BYTES = 28;
export const SOCKADDR_BYTES = IPV6_BYTES;
export const SOCKADDR_WORDS = SOCKADDR_BYTES / 4;

/** The sockaddr of an endpoint; null for one with a zone, whose number only the system knows. */
export function toSockaddr({ address, port }: Endpoint): Uint32Array | null {
  const ip = address.includes('%') ? null : parseIp(address);
  if (ip === null) return null;
  const words = new Uint32Array(SOCKADDR_WORDS);
  const bytes = new Uint8Array(words.buffer);
  bytes[0] = ip.length === 4 ? AF_INET : AF_INET6;
  bytes[2] = port >> 8;
  bytes[3] = port & 255;
  bytes.set(ip, ip.length === 4 ? 4 : 8);
  return words;
}

/** The endpoint of a sockaddr; null for one with a zone. */
export function fromSockaddr(words: Uint32Array): Endpoint | null {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, SOCKADDR_BYTES);
  const port = ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0);
  if (!isIpv6(words)) return { address: formatIp(bytes.subarray(4, 8)), port };
  return (words[6] ?? 0) === 0 ? { address: formatIp(bytes.subarray(8, 24)), port } : null;
}

export function isIpv6(words: Uint32Array): boolean {
  return ((words[0] ?? 0) & 0xffff) === AF_INET6;
}

export function sockaddrBytes(words: Uint32Array): number {
  return isIpv6(words) ? IPV6_BYTES : IPV4_BYTES;
}

/** A map key, equal for equal addresses and ports: a number for IPv4, so that looking one up makes no garbage. */
export function sockaddrKey(words: Uint32Array, at: number): number | string {
  const family = words[at] ?? 0;
  if ((family & 0xffff) === AF_INET) return (words[at + 1] ?? 0) * 0x1_0000 + (family >>> 16);
  return `${family >>> 16} ${words.subarray(at + 2, at + SOCKADDR_WORDS).join()}`;
}
