// Detects requests to the admin port that come through the proxy, from one of its own outbound sockets. Asks the system's table of
// TCP sockets on this machine, of every program (proc(5), /proc/pid/net/tcp).

import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { addressesOf } from '../../core/exits/exit.js';
import type { ExitsSetting } from '../../core/exits/exits-setting.js';
import { type Endpoint, type IpBytes, parseIp, unmap } from '../../core/ip.js';
import { createIsOwnOutbound } from '../../core/sessions/outbound.js';
import type { IsOwnOutbound } from '../../http/guards/own-outbound.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import { createIsLocalAddress } from '../../proxy/worker/local-addresses.js';

export function ownOutboundCheck(
  plane: Pick<ProxyPlane, 'ownPorts' | 'findOutbound'>,
  exits: Pick<ExitsSetting, 'current' | 'onChanged'>,
): IsOwnOutbound {
  const isLocalAddress = createIsLocalAddress(() => performance.now());
  // Those of networks are on no interface.
  let isOfExit = addressesOf(exits.current());
  exits.onChanged((changed) => {
    isOfExit = addressesOf(changed);
  });
  return createIsOwnOutbound({
    hasPort: (port) => plane.ownPorts.has('tcp-outbound', port),
    isLocal(address) {
      const ip = parseIp(address);
      return ip !== null && (isLocalAddress(unmap(ip)) || isOfExit(unmap(ip)));
    },
    remotesOf: ({ address, port }) => plane.findOutbound(address, port),
    isConnected: isConnectedHere,
  });
}

/** The tables of this process's network namespace. The path contains `self` because systemd's ProcSubset= hides /proc/net. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Returns whether a socket on this machine is connected from `local` to `remote` (both unmapped); null where the system has no such
 * table, as outside Linux. Each call reads the whole table, so call it rarely.
 */
export async function isConnectedHere(local: Endpoint, remote: Endpoint): Promise<boolean | null> {
  const rows = rowsOf(local, remote);
  try {
    const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1')));
    return tables.some((table) => rows.some((row) => table.includes(row)));
  } catch {
    return null;
  }
}

/** Returns the table's text of a socket, as an IPv4 socket and as an IPv6 socket. */
function rowsOf(local: Endpoint, remote: Endpoint): string[] {
  const ips = [parseIp(local.address), parseIp(remote.address)];
  const [from, to] = ips.map((ip) => ip && unmap(ip));
  if (!from || !to) return [];
  const forms =
    from.length === 4
      ? [(ip: IpBytes) => ip, (ip: IpBytes) => [...MAPPED_PREFIX, ...ip]]
      : [(ip: IpBytes) => ip];
  return forms.map((form) => ` ${endText(form(from), local.port)} ${endText(form(to), remote.port)} `);
}

/** `0100007F:1F90`: each 32-bit word of the address in this machine's byte order, then the port. */
function endText(address: ArrayLike<number>, port: number): string {
  const bytes = Buffer.from(Array.from(address));
  if (endianness() === 'LE') bytes.swap32();
  const hex = (value: string): string => value.toUpperCase();
  return `${hex(bytes.toString('hex'))}:${hex(port.toString(16).padStart(4, '0'))}`;
}
