// Our own outbound sockets: a management request that comes from one of them came through the proxy.

export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/**
 * The sockets that the SOCKS side has opened to destinations, by their local end. One local end may stand for several:
 * the system gives a port again to whoever connects to somewhere else, to us as to any other program of this machine.
 */
export class OwnOutbound {
  readonly #remotesOf = new Map<string, SocketEnd[]>();
  readonly #isLocal: (address: string) => boolean;

  /** @param isLocal whether an address is one of this machine */
  constructor(isLocal: (address: string) => boolean) {
    this.#isLocal = isLocal;
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
    const left = remotes.filter((each) => each.port !== remote.port || each.address !== remote.address);
    if (left.length === 0) this.#remotesOf.delete(key);
    else this.#remotesOf.set(key, left);
  }

  /**
   * Whether a connection from `peer` to `here` (a listener of ours) is one of these. One that went to another address
   * may have been turned round to us by a translator; one that went to another listener of this machine is another.
   */
  has(peer: SocketEnd, here: SocketEnd): boolean {
    const remotes = this.#remotesOf.get(keyOf(peer)) ?? [];
    return remotes.some(
      ({ address, port }) => (address === here.address && port === here.port) || !this.#isLocal(address),
    );
  }
}

function keyOf({ address, port }: SocketEnd): string {
  return `${address} ${port}`;
}
