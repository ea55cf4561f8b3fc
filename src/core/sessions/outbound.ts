// Detects requests to the admin port that come through the proxy, from an outbound socket of this process.

export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

export interface OutboundUses {
  /** Whether a connection to a destination has this local port, of whichever address. Cheap. */
  readonly hasPort: (port: number) => boolean;
  /** Whether an address is one of this machine. */
  readonly isLocal: (address: string) => boolean;
  /** Where our connections lead that have this local end. */
  readonly remotesOf: (local: SocketEnd) => Promise<readonly SocketEnd[]>;
  /** Whether a socket of this machine, of whichever program, is connected from `local` to `remote`; null: not known. */
  readonly isConnected: (local: SocketEnd, remote: SocketEnd) => Promise<boolean | null>;
}

/**
 * Returns whether a connection from `peer` to `here` (a listener of ours) is one of our own; a promise only when that is
 * in doubt. One local end may stand for several sockets: the system gives a port again to whoever connects to somewhere
 * else, to us as to any other program of this machine.
 */
export function createIsOwnOutbound(
  uses: OutboundUses,
): (peer: SocketEnd, here: SocketEnd) => boolean | Promise<boolean> {
  return (peer, here) => uses.hasPort(peer.port) && uses.isLocal(peer.address) && isOwn(uses, peer, here);
}

/**
 * Ours may have gone elsewhere. Then either a translator has turned it round to us, and the only socket with this local end
 * is ours; or another program was given the same port, and then it has a socket that leads straight to us.
 */
async function isOwn(uses: OutboundUses, peer: SocketEnd, here: SocketEnd): Promise<boolean> {
  const remotes = await uses.remotesOf(peer);
  if (remotes.length === 0) return false;
  if (remotes.some((remote) => remote.port === here.port && remote.address === here.address)) return true;
  const isAnother = await uses.isConnected(peer, here);
  // Not known: what goes to another listener of this machine is seldom turned round.
  return isAnother === null ? remotes.some(({ address }) => !uses.isLocal(address)) : !isAnother;
}
