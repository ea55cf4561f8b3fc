// The options of a native socket that decide where it leaves the machine: its address, interface and mark.
import type { LocalEnd } from '../local-end.js';
import * as c from './libc.js';
import { writeSockaddr } from './sockaddr.js';

const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);

/** Sets interface, mark and IPV6_FREEBIND. Call it before `bind`. Returns null, or a system error code. */
export function setWayOut(libc: c.Libc, fd: number, end: LocalEnd): string | null {
  if (end.interface !== null && libc.bindToDevice(fd, end.interface) !== 0) return c.codeOf(libc.errno());
  if (end.mark !== null && libc.setOption(fd, c.SOL_SOCKET, c.SO_MARK, end.mark) !== 0)
    return c.codeOf(libc.errno());
  if (end.isFree) libc.setOption(fd, c.IPPROTO_IPV6, c.IPV6_FREEBIND, 1);
  return null;
}

/**
 * Prepares a TCP socket to connect from `end`. `connect` chooses the port (IP_BIND_ADDRESS_NO_PORT, ip(7)): ports run out only
 * towards one destination, and then it fails with EADDRNOTAVAIL at once. Returns null, or a system error code.
 */
export function setLocalEnd(libc: c.Libc, fd: number, end: LocalEnd): string | null {
  const code = setWayOut(libc, fd, end);
  if (code !== null || end.address === null) return code;
  libc.setOption(fd, c.IPPROTO_IP, c.IP_BIND_ADDRESS_NO_PORT, 1);
  const bytes = writeSockaddr(sockaddr, { address: end.address, port: 0 });
  if (bytes === 0) return 'EADDRNOTAVAIL';
  return libc.bind(fd, sockaddr, bytes) === 0 ? null : c.codeOf(libc.errno());
}
