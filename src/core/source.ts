// Groups addresses into sources for limits: one host commonly has one IPv4 address or one IPv6 /64.
import { parseIp } from './ip.js';

/** The source of an address: an IPv6 address becomes its /64; other text is unchanged. */
export function sourceOf(address: string): string {
  if (!address.includes(':')) return address;
  const ip = parseIp(address);
  return ip?.length === 16 ? Buffer.from(ip.subarray(0, 8)).toString('hex') : address;
}

/** The source of an address as readable text: `2001:0db8:0000:0001::/64`. */
export function sourceText(address: string): string {
  const source = sourceOf(address);
  return source === address ? address : `${(source.match(/.{4}/g) ?? []).join(':')}::/64`;
}
