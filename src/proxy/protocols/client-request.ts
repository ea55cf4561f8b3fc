// What a client asks for, whichever protocol it speaks.

/** What a logged-in client asks for, in the terms of RFC 1928 §4, whichever protocol it speaks. */
export interface ClientRequest {
  readonly command: 'connect' | 'bind' | 'udp';
  /** ATYP, see socks5.ts. */
  readonly addressType: number;
  /** DST.ADDR as raw bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}
