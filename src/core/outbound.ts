// Our own outbound sockets: a management request that comes from one of them came through the proxy.

/** The local ends (`address`, `port`) of the sockets that the SOCKS side has opened to destinations. */
export class OwnOutbound {
  readonly #ends = new Set<string>();

  add(address: string, port: number): void {
    this.#ends.add(`${address} ${port}`);
  }

  delete(address: string, port: number): void {
    this.#ends.delete(`${address} ${port}`);
  }

  has(address: string, port: number): boolean {
    return this.#ends.has(`${address} ${port}`);
  }
}
