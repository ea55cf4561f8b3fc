// Detects requests to the admin port that come through the proxy, from an outbound socket of this process.
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { type Endpoint, type IpBytes, parseIp, unmap } from '../../core/addresses/ip.js';
import { addressesOf } from '../../core/exits/exit.js';
import type { ExitsSetting } from '../../core/exits/exits-setting.js';
import type { IsOwnOutbound } from '../../http/guards/client.js';
import { createIsLocalAddress } from '../../proxy/local-addresses.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';

interface OutboundDeps {
  /** Whether a connection to a destination has this local port, at any address. Cheap. */
  readonly hasPort: (port: number) => boolean;
  readonly isLocal: (address: string) => boolean;
  /** The remote ends of the connections of this process with this local end. */
  readonly remotesOf: (local: Endpoint) => Promise<readonly Endpoint[]>;
  /** Whether a socket of any program on this machine is connected from `local` to `remote`; null: unknown. */
  readonly isConnected: (local: Endpoint, remote: Endpoint) => Promise<boolean | null>;
}

export function ownOutboundCheck(
  plane: Pick<ProxyPlane, 'ownPorts' | 'requests'>,
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
    remotesOf: ({ address, port }) => plane.requests.findOutbound(address, port),
    isConnected: isConnectedHere,
  });
}

/**
 * Returns whether a connection from `peer` to `here` (a listener of this process) was made by this process; a promise only when that
 * is not certain. Several sockets may have the same local end: the system reuses a port for connections to different destinations,
 * of this process and of any other program.
 */
export const createIsOwnOutbound =
  (deps: OutboundDeps): IsOwnOutbound =>
  (peer, here) =>
    deps.hasPort(peer.port) && deps.isLocal(peer.address) && isOwn(deps, peer, here);

/**
 * The connection of this process may have another destination. Then either address translation redirected it to this listener, and
 * no other socket has this local end; or another program uses the same port, and has a socket that is connected to this listener.
 */
async function isOwn(deps: OutboundDeps, peer: Endpoint, here: Endpoint): Promise<boolean> {
  const remotes = await deps.remotesOf(peer);
  if (remotes.length === 0) return false;
  if (remotes.some((remote) => remote.port === here.port && remote.address === here.address)) return true;
  const isOfOtherProgram = await deps.isConnected(peer, here);
  // Unknown: connections to other listeners of this machine are rarely redirected.
  return isOfOtherProgram === null
    ? remotes.some(({ address }) => !deps.isLocal(address))
    : !isOfOtherProgram;
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
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1'))).catch(() => null);
  return tables?.some((table) => rows.some((row) => table.includes(row))) ?? null;
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
