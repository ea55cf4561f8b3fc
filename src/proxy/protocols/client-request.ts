// The request of a client, independent of its protocol.

/** A request in the terms of RFC 1928 §4, for all protocols. */
export interface ClientRequest {
  readonly command: 'connect' | 'bind' | 'udp';
  /** ATYP, see socks5.ts. */
  readonly addressType: number;
  /** DST.ADDR as raw bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}
