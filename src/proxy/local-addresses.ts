// The addresses of this machine, to recognize destinations that are listeners of this process.
import { networkInterfaces } from 'node:os';
import { formatIp, type IpBytes } from '../core/addresses/ip.js';
import { tryOr } from '../core/errors.js';

/** Interfaces change (VPNs, DHCP): how long a list of them is valid, in ms. */
const CACHE_MS = 5_000;

/** Returns whether `ip` (IPv4-mapped ones as IPv4) is an address of this machine. All loopback and unspecified addresses are. */
export function createIsLocalAddress(
  now: () => number,
  interfaces: typeof networkInterfaces = networkInterfaces,
): (ip: IpBytes) => boolean {
  // Read immediately: later the process may have no file descriptor left for it.
  let addresses = readAddresses(interfaces) ?? new Set<string>();
  let readAt = now();
  return (ip) => {
    if (isAlwaysLocal(ip)) return true;
    if (now() - readAt > CACHE_MS) {
      addresses = readAddresses(interfaces) ?? addresses;
      readAt = now();
    }
    return addresses.has(formatIp(ip));
  };
}

/** Null when the system call fails, for example without a free file descriptor. */
const readAddresses = (interfaces: typeof networkInterfaces): Set<string> | null =>
  tryOr(null, () => {
    const lists = Object.values(interfaces());
    return new Set(lists.flatMap((list) => (list ?? []).map((each) => each.address)));
  });

/** Loopback addresses, and the unspecified ones, which connect to this machine too. */
function isAlwaysLocal(ip: IpBytes): boolean {
  if (ip.length === 4) return ip[0] === 127 || ip[0] === 0;
  return ip.every((byte, i) => (i === 15 ? byte <= 1 : byte === 0));
}
