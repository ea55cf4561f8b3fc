// Parser of the username/password subnegotiation (RFC 1929 §2). One object for each connection.
import { LOGIN_VERSION } from './socks5.js';

export type LoginMessage =
  | { readonly kind: 'login'; readonly username: Uint8Array; readonly password: Uint8Array }
  /** Both are empty: some clients without credentials send this. */
  | { readonly kind: 'none' }
  | { readonly kind: 'error'; readonly octet: 'login-version' | 'ulen' | 'plen' };

//  +----+------+----------+------+----------+
//  |VER | ULEN |  UNAME   | PLEN |  PASSWD  |
//  +----+------+----------+------+----------+
//  | 1  |  1   | 1 to 255 |  1   | 1 to 255 |
//  +----+------+----------+------+----------+
const ULEN_AT = 1;
const UNAME_AT = 2;

export class LoginParser {
  /** Bytes after the credentials, for the next parser. */
  rest: Buffer | null = null;
  #held: Buffer | null = null;

  /** Adds bytes; returns the message when it is complete, else null. Keeps at most 513 bytes. */
  feed(chunk: Buffer): LoginMessage | null {
    const bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = bytes;
    if (bytes.length > 0 && bytes[0] !== LOGIN_VERSION) return { kind: 'error', octet: 'login-version' };

    const ulen = bytes[ULEN_AT];
    if (ulen === undefined) return null;
    const plenAt = UNAME_AT + ulen;
    const plen = bytes[plenAt];
    if (plen === undefined) return null;
    if (ulen === 0 && plen > 0) return { kind: 'error', octet: 'ulen' };
    if (ulen > 0 && plen === 0) return { kind: 'error', octet: 'plen' };

    const end = plenAt + 1 + plen;
    if (bytes.length < end) return null;
    this.#held = null;
    this.rest = bytes.length > end ? bytes.subarray(end) : null;
    if (ulen === 0) return { kind: 'none' };
    return {
      kind: 'login',
      username: bytes.subarray(UNAME_AT, plenAt),
      password: bytes.subarray(plenAt + 1, end),
    };
  }
}
