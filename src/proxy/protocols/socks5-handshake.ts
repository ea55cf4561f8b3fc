// The server's side of SOCKS5 from the first byte to the request: methods (RFC 1928 §3), login (RFC 1929 §2), request
// (RFC 1928 §4). Bytes in, steps out: it knows no socket and no clock.
import { LoginParser } from './login.js';
import {
  LOGIN_FAILED,
  LOGIN_SUCCEEDED,
  METHOD_SELECTED,
  METHOD_USERNAME_PASSWORD,
  METHODS_REFUSED,
  Reply,
  replyFrame,
} from './socks5.js';
import { type Command, SocksParser } from './socksv5.js';

/** What a logged-in client asks for, RFC 1928 §4. */
export interface SocksRequest {
  readonly command: Command;
  /** ATYP, see socks5.ts. */
  readonly addressType: number;
  /** DST.ADDR as raw bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}

export type HandshakeStep =
  /** The bytes so far are incomplete. */
  | { readonly kind: 'more' }
  /** Send this and ask for the next step. */
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** Check the credentials; then `accept` or `LOGIN_FAILED`. */
  | { readonly kind: 'login'; readonly username: Uint8Array; readonly password: Uint8Array }
  /** The handshake is over. `rest` is what the client sent behind its request. */
  | { readonly kind: 'request'; readonly request: SocksRequest; readonly rest: Buffer | null }
  /** Send this and close. */
  | { readonly kind: 'refuse'; readonly bytes: Uint8Array };

const MORE: HandshakeStep = { kind: 'more' };
const SEND_METHOD: HandshakeStep = { kind: 'send', bytes: METHOD_SELECTED };
const REFUSE_METHODS: HandshakeStep = { kind: 'refuse', bytes: METHODS_REFUSED };
const REFUSE_LOGIN: HandshakeStep = { kind: 'refuse', bytes: LOGIN_FAILED };
const REFUSE_BY_OCTET = {
  version: { kind: 'refuse', bytes: replyFrame(Reply.generalFailure) },
  command: { kind: 'refuse', bytes: replyFrame(Reply.commandNotSupported) },
  'address-type': { kind: 'refuse', bytes: replyFrame(Reply.addressTypeNotSupported) },
} as const satisfies Record<string, HandshakeStep>;

export class Socks5Handshake {
  readonly #socks = new SocksParser();
  readonly #login = new LoginParser();
  #stage: 'methods' | 'login' | 'request' | 'done' = 'methods';
  #unread: Buffer | null = null;

  /** Takes bytes in, cut anywhere; they are kept. */
  feed(bytes: Buffer): void {
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes]);
  }

  /** What to do next. After 'request' and 'refuse' the handshake is spent. */
  next(): HandshakeStep {
    const bytes = this.#unread;
    if (bytes === null || bytes.length === 0) return MORE;
    this.#unread = null;
    if (this.#stage === 'methods') return this.#readMethods(bytes);
    if (this.#stage === 'login') return this.#readLogin(bytes);
    return this.#readRequest(bytes);
  }

  /** The credentials are right: send what this returns. */
  accept(): Uint8Array {
    this.#stage = 'request';
    this.#socks.expectRequest();
    return LOGIN_SUCCEEDED;
  }

  #readMethods(bytes: Buffer): HandshakeStep {
    const message = this.#socks.feed(bytes);
    if (message === null) return MORE;
    if (message.kind !== 'methods' || !message.methods.includes(METHOD_USERNAME_PASSWORD)) {
      return REFUSE_METHODS;
    }
    this.#stage = 'login';
    this.#unread = this.#socks.rest;
    return SEND_METHOD;
  }

  #readLogin(bytes: Buffer): HandshakeStep {
    const message = this.#login.feed(bytes);
    if (message === null) return MORE;
    if (message.kind === 'error') return REFUSE_LOGIN;
    this.#unread = this.#login.rest;
    return message;
  }

  #readRequest(bytes: Buffer): HandshakeStep {
    const message = this.#socks.feed(bytes);
    if (message === null) return MORE;
    if (message.kind === 'error') return REFUSE_BY_OCTET[message.octet];
    if (message.kind !== 'request') return REFUSE_BY_OCTET.version;
    this.#stage = 'done';
    return { kind: 'request', request: message, rest: this.#socks.rest };
  }
}
