// Who counts as one source: what a single host commonly has, so that nobody gets around a limit by changing addresses.
import { parseIp } from './ip.js';

/** An IPv4 address as it is, an IPv6 address as its /64; anything else as it is. */
export function sourceOf(address: string): string {
  if (!address.includes(':')) return address;
  const ip = parseIp(address);
  return ip?.length === 16 ? Buffer.from(ip.subarray(0, 8)).toString('hex') : address;
}

/** The same for people to read: `2001:0db8:0000:0001::/64`. */
export function sourceText(address: string): string {
  const source = sourceOf(address);
  return source === address ? address : `${(source.match(/.{4}/g) ?? []).join(':')}::/64`;
}
