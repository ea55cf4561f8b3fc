// Detects requests to the admin port that come through the proxy, from an outbound socket of this process.
import type { Endpoint } from '../ip.js';

export interface OutboundDeps {
  /** Whether a connection to a destination has this local port, at any address. Cheap. */
  readonly hasPort: (port: number) => boolean;
  /** Whether an address is one of this machine. */
  readonly isLocal: (address: string) => boolean;
  /** The remote ends of the connections of this process with this local end. */
  readonly remotesOf: (local: Endpoint) => Promise<readonly Endpoint[]>;
  /** Whether a socket of any program on this machine is connected from `local` to `remote`; null: unknown. */
  readonly isConnected: (local: Endpoint, remote: Endpoint) => Promise<boolean | null>;
}

/**
 * Returns whether a connection from `peer` to `here` (a listener of this process) was made by this process; a promise only when that
 * is not certain. Several sockets may have the same local end: the system reuses a port for connections to different destinations,
 * of this process and of any other program.
 */
export function createIsOwnOutbound(
  deps: OutboundDeps,
): (peer: Endpoint, here: Endpoint) => boolean | Promise<boolean> {
  return (peer, here) => deps.hasPort(peer.port) && deps.isLocal(peer.address) && isOwn(deps, peer, here);
}

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
