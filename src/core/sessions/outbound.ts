// Our own outbound sockets: a management request that comes from one of them came through the proxy.

export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/** Whether a socket of this machine, of whichever program, is connected from `local` to `remote`; null: not known. */
export type FindConnection = (local: SocketEnd, remote: SocketEnd) => Promise<boolean | null>;

/**
 * The sockets that the SOCKS side has opened to destinations, by their local end. One local end may stand for several:
 * the system gives a port again to whoever connects to somewhere else, to us as to any other program of this machine.
 */
export class OwnOutbound {
  readonly #remotesOf = new Map<string, SocketEnd[]>();
  readonly #isLocal: (address: string) => boolean;
  readonly #findConnection: FindConnection;

  /**
   * @param isLocal whether an address is one of this machine
   * @param findConnection asked only when a connection to us has the local end of one of ours that went elsewhere
   */
  constructor(isLocal: (address: string) => boolean, findConnection: FindConnection) {
    this.#isLocal = isLocal;
    this.#findConnection = findConnection;
  }

  add(local: SocketEnd, remote: SocketEnd): void {
    const key = keyOf(local);
    const remotes = this.#remotesOf.get(key);
    if (remotes) remotes.push(remote);
    else this.#remotesOf.set(key, [remote]);
  }

  delete(local: SocketEnd, remote: SocketEnd): void {
    const key = keyOf(local);
    const remotes = this.#remotesOf.get(key) ?? [];
    const left = remotes.filter((each) => !isSame(each, remote));
    if (left.length === 0) this.#remotesOf.delete(key);
    else this.#remotesOf.set(key, left);
  }

  /** Whether a connection from `peer` to `here` (a listener of ours) is one of these; a promise only when that is in doubt. */
  has(peer: SocketEnd, here: SocketEnd): boolean | Promise<boolean> {
    const remotes = this.#remotesOf.get(keyOf(peer));
    if (remotes === undefined) return false;
    return remotes.some((remote) => isSame(remote, here)) || this.#wasTurned(remotes, peer, here);
  }

  /**
   * Ours went elsewhere. Either a translator has turned it round to us, and the only socket with this local end is ours;
   * or another program was given the same port, and then it has a socket that leads straight to us.
   */
  async #wasTurned(remotes: readonly SocketEnd[], peer: SocketEnd, here: SocketEnd): Promise<boolean> {
    const isAnother = await this.#findConnection(peer, here);
    // Not known: what goes to another listener of this machine is seldom turned round.
    return isAnother === null ? remotes.some(({ address }) => !this.#isLocal(address)) : !isAnother;
  }
}

function isSame(one: SocketEnd, other: SocketEnd): boolean {
  return one.port === other.port && one.address === other.address;
}

function keyOf({ address, port }: SocketEnd): string {
  return `${address} ${port}`;
}
