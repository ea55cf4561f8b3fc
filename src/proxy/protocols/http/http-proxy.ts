// The server's side of an HTTP proxy: one request with Basic credentials (RFC 9110 §11.7), a CONNECT (§9.3.6) or one in
// absolute form (RFC 9112 §3.2.2). Parses bytes and returns steps; uses no socket and no clock.
import type { ClientProtocol, HandshakeStep } from '../client-protocol.js';
import type { ClientRequest } from '../client-request.js';
import { Reply, type ReplyCode } from '../socks5.js';
import { answer, type Status, statusOf, TUNNEL_OPEN } from './answers.js';
import { readBasic } from './basic.js';
import { type ForwardedRequest, readForwarding } from './forward.js';
import { type Field, type HeadLimits, HeadReader, valuesOf } from './head.js';
import { readAuthority, readRequestLine } from './request-line.js';

const LOGIN_FAILED = answer(407);
const MORE: HandshakeStep = { kind: 'more' };

export class HttpProxy implements ClientProtocol {
  readonly name = 'http';
  readonly loginFailed = LOGIN_FAILED;
  readonly asksForCredentials = true;
  readonly #head: HeadReader;
  #unread: Buffer | null = null;
  /** The request whose credentials are being checked. */
  #request: ClientRequest | null = null;
  #forward: ForwardedRequest | null = null;
  #isAccepted = false;

  constructor(limits: HeadLimits) {
    this.#head = new HeadReader(limits);
  }

  feed(bytes: Buffer): void {
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes]);
  }

  next(): HandshakeStep {
    if (this.#request !== null) {
      if (!this.#isAccepted) return MORE;
      const step = { kind: 'request', request: this.#request, rest: this.#unread } as const;
      return this.#forward === null ? step : { ...step, forward: this.#forward };
    }
    const bytes = this.#unread;
    if (bytes === null) return MORE;
    this.#unread = null;
    const head = this.#head.feed(bytes);
    if (head.kind === 'more') return MORE;
    if (head.kind !== 'head') return refuse(head.kind === 'too-large' ? 431 : 400);
    this.#unread = head.rest;
    return this.#readRequest(head.startLine, head.fields);
  }

  accept(): null {
    this.#isAccepted = true;
    return null;
  }

  reply(code: ReplyCode): Uint8Array {
    return code === Reply.succeeded ? TUNNEL_OPEN : answer(statusOf(code), this.#forward?.isHead);
  }

  #readRequest(startLine: string, fields: readonly Field[]): HandshakeStep {
    const line = readRequestLine(startLine);
    if (line === 'malformed') return refuse(400);
    if (line === 'version') return refuse(505);
    if (line.method === 'CONNECT') {
      this.#request = isConnectHead(fields) ? readAuthority(line.target) : null;
      if (this.#request === null) return refuse(400);
    } else {
      const forwarding = readForwarding(line, fields);
      if (!forwarding.ok) return refuse(forwarding.status);
      this.#request = forwarding.request;
      this.#forward = forwarding.forward;
    }
    const [credentials, ...others] = valuesOf(fields, 'proxy-authorization');
    if (others.length > 0) return refuse(400);
    if (credentials === undefined) return { kind: 'address-login' };
    const login = readBasic(credentials);
    if (login === null) return refuse(407);
    return { kind: 'login', ...login };
  }
}

/** A CONNECT has no content (RFC 9110 §9.3.6): fields that declare a body are ambiguous. */
function isConnectHead(fields: readonly Field[]): boolean {
  return (
    valuesOf(fields, 'transfer-encoding').length === 0 &&
    valuesOf(fields, 'content-length').every((value) => value === '0') &&
    valuesOf(fields, 'host').length <= 1
  );
}

function refuse(status: Status): HandshakeStep {
  return { kind: 'refuse', bytes: answer(status) };
}
