// The server side of SOCKS5 from the first byte to the request: methods (RFC 1928 §3), login (RFC 1929 §2), request (RFC
// 1928 §4). Parses bytes and returns steps; uses no socket and no clock.
import { type ClientProtocol, type HandshakeStep, Unread } from './client-protocol.js';
import {
  LOGIN_FAILED,
  LOGIN_SUCCEEDED,
  LOGIN_VERSION,
  METHOD_NO_AUTHENTICATION,
  METHOD_SELECTED,
  METHOD_USERNAME_PASSWORD,
  METHODS_REFUSED,
  NO_METHOD_SELECTED,
  Reply,
  type ReplyCode,
  replyFrame,
} from './socks5.js';
import { SocksParser } from './socksv5.js';

const MORE: HandshakeStep = { kind: 'more' };
const ADDRESS_LOGIN: HandshakeStep = { kind: 'address-login' };
const SEND_METHOD: HandshakeStep = { kind: 'send', bytes: METHOD_SELECTED };
const REFUSE_METHODS: HandshakeStep = { kind: 'refuse', bytes: METHODS_REFUSED };
const REFUSE_LOGIN: HandshakeStep = { kind: 'refuse', bytes: LOGIN_FAILED };
const REFUSE_BY_OCTET = {
  version: { kind: 'refuse', bytes: replyFrame(Reply.generalFailure) },
  command: { kind: 'refuse', bytes: replyFrame(Reply.commandNotSupported) },
  'address-type': { kind: 'refuse', bytes: replyFrame(Reply.addressTypeNotSupported) },
} as const satisfies Record<string, HandshakeStep>;

export class Socks5Handshake extends Unread implements ClientProtocol {
  readonly name = 'socks5';
  readonly asksForCredentials = false;
  readonly #socks = new SocksParser();
  readonly #login = new LoginParser();
  #stage: 'methods' | 'no-login' | 'login' | 'request' | 'done' = 'methods';

  next(): HandshakeStep {
    const bytes = this.unread;
    if (bytes === null || bytes.length === 0) return MORE;
    this.unread = null;
    if (this.#stage === 'no-login') return MORE;
    if (this.#stage === 'methods') return this.#readMethods(bytes);
    if (this.#stage === 'login') return this.#readLogin(bytes);
    return this.#readRequest(bytes);
  }

  get loginFailed(): Uint8Array {
    return this.#stage === 'no-login' ? METHODS_REFUSED : LOGIN_FAILED;
  }

  accept(): Uint8Array {
    const accepted = this.#stage === 'no-login' ? NO_METHOD_SELECTED : LOGIN_SUCCEEDED;
    this.#stage = 'request';
    this.#socks.expectRequest();
    return accepted;
  }

  reply(code: ReplyCode, boundAddress?: string, boundPort?: number): Uint8Array {
    return replyFrame(code, boundAddress, boundPort);
  }

  #readMethods(bytes: Buffer): HandshakeStep {
    const message = this.#socks.feed(bytes);
    if (message === null) return MORE;
    if (message.kind !== 'methods') return REFUSE_METHODS;
    const { methods } = message;
    // Credentials take precedence over an authorized address.
    const hasLogin = methods.includes(METHOD_USERNAME_PASSWORD);
    if (!hasLogin && !methods.includes(METHOD_NO_AUTHENTICATION)) return REFUSE_METHODS;
    this.#stage = hasLogin ? 'login' : 'no-login';
    this.unread = this.#socks.rest;
    return hasLogin ? SEND_METHOD : ADDRESS_LOGIN;
  }

  #readLogin(bytes: Buffer): HandshakeStep {
    const message = this.#login.feed(bytes);
    if (message === null) return MORE;
    if (message.kind === 'error') return REFUSE_LOGIN;
    this.unread = this.#login.rest;
    return message.kind === 'none' ? ADDRESS_LOGIN : message;
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

type LoginMessage =
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

/** Of the username/password subnegotiation (RFC 1929 §2). One object for each connection. */
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
