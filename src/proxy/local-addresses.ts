// Which destinations are this process itself: its listeners, reached by any address of this machine.
import { networkInterfaces } from 'node:os';
import { formatIp, type IpBytes } from '../core/ip.js';

/** Interfaces come and go (VPNs, DHCP): how long a list of them is believed, in ms. */
const BELIEVED_MS = 5_000;

/** Returns whether `ip` (unmapped) is an address of this machine; loopback, all of it, always is. */
export function createIsLocalAddress(
  now: () => number,
  interfaces: typeof networkInterfaces = networkInterfaces,
): (ip: IpBytes) => boolean {
  // Read at once: later the process may have no descriptor left to read them with.
  let addresses = readAddresses(interfaces) ?? new Set<string>();
  let readAt = now();
  return (ip) => {
    if (isLoopback(ip)) return true;
    if (now() - readAt > BELIEVED_MS) {
      addresses = readAddresses(interfaces) ?? addresses;
      readAt = now();
    }
    return addresses.has(formatIp(ip));
  };
}

/** Null when the system does not tell, which takes a descriptor. */
function readAddresses(interfaces: typeof networkInterfaces): Set<string> | null {
  try {
    return new Set(Object.values(interfaces()).flatMap((list) => (list ?? []).map((each) => each.address)));
  } catch {
    return null;
  }
}

function isLoopback(ip: IpBytes): boolean {
  if (ip.length === 4) return ip[0] === 127 || ip[0] === 0;
  return ip.every((byte, i) => (i === 15 ? byte <= 1 : byte === 0));
}
