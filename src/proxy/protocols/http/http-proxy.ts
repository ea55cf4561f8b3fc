// The server's side of an HTTP proxy: one request with Basic credentials (RFC 9110 §11.7), a CONNECT (§9.3.6) or one in
// absolute form (RFC 9112 §3.2.2). Parses bytes and returns steps. Its own responses (RFC 9110 §15) contain nothing about the
// player or our network.
import { type ClientProtocol, type HandshakeStep, Unread } from '../client-protocol.js';
import { type ClientRequest, Reply, type ReplyCode } from '../socks5.js';
import { type ForwardedRequest, readAuthority, readForwarding, readRequestLine } from './forward.js';
import { type Field, type HeadLimits, HeadReader, valuesOf } from './head.js';

const REASONS = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
} as const;
type Status = keyof typeof REASONS;

/** The HTTP status for a SOCKS5 reply code (RFC 1928 §6). */
const STATUS_OF_REPLY: Readonly<Record<ReplyCode, Status>> = {
  [Reply.succeeded]: 502,
  [Reply.generalFailure]: 503,
  [Reply.notAllowedByRuleset]: 403,
  [Reply.networkUnreachable]: 502,
  [Reply.hostUnreachable]: 502,
  [Reply.connectionRefused]: 502,
  [Reply.ttlExpired]: 504,
  [Reply.commandNotSupported]: 501,
  [Reply.addressTypeNotSupported]: 400,
};

/** RFC 9110 §9.3.6: the tunnel begins after the empty line. */
const TUNNEL_OPEN = Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n', 'latin1');

/** RFC 7617 §2 and §2.1. */
const CHALLENGE = 'Proxy-Authenticate: Basic realm="Pulsegate", charset="UTF-8"\r\n';

const LOGIN_FAILED = answer(407);
const MORE: HandshakeStep = { kind: 'more' };

export class HttpProxy extends Unread implements ClientProtocol {
  readonly name = 'http';
  readonly loginFailed = LOGIN_FAILED;
  readonly asksForCredentials = true;
  readonly #head: HeadReader;
  /** The request whose credentials are being checked. */
  #request: ClientRequest | null = null;
  #forward: ForwardedRequest | null = null;
  #isAccepted = false;

  constructor(limits: HeadLimits) {
    super();
    this.#head = new HeadReader(limits);
  }

  next(): HandshakeStep {
    if (this.#request !== null) {
      if (!this.#isAccepted) return MORE;
      const step = { kind: 'request', request: this.#request, rest: this.unread } as const;
      return this.#forward === null ? step : { ...step, forward: this.#forward };
    }
    const bytes = this.unread;
    if (bytes === null) return MORE;
    this.unread = null;
    const head = this.#head.feed(bytes);
    if (head.kind === 'more') return MORE;
    if (head.kind !== 'head') return refusal(head.kind === 'too-large' ? 431 : 400);
    this.unread = head.rest;
    return this.#readRequest(head.startLine, head.fields);
  }

  accept(): null {
    this.#isAccepted = true;
    return null;
  }

  reply(code: ReplyCode): Uint8Array {
    return code === Reply.succeeded ? TUNNEL_OPEN : answer(STATUS_OF_REPLY[code], this.#forward?.isHead);
  }

  /** RFC 6585 §4. */
  tooMany(waitMs: number): Uint8Array {
    return answer(429, this.#forward?.isHead, `Retry-After: ${Math.ceil(waitMs / 1_000)}\r\n`);
  }

  #readRequest(startLine: string, fields: readonly Field[]): HandshakeStep {
    const line = readRequestLine(startLine);
    if (line === 'malformed') return refusal(400);
    if (line === 'version') return refusal(505);
    if (line.method === 'CONNECT') {
      this.#request = isConnectHead(fields) ? readAuthority(line.target) : null;
      if (this.#request === null) return refusal(400);
    } else {
      const forwarding = readForwarding(line, fields);
      if (!forwarding.ok) return refusal(forwarding.status);
      this.#request = forwarding.request;
      this.#forward = forwarding.forward;
    }
    const [credentials, ...others] = valuesOf(fields, 'proxy-authorization');
    if (others.length > 0) return refusal(400);
    if (credentials === undefined) return { kind: 'address-login' };
    const login = readBasic(credentials);
    if (login === null) return refusal(407);
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

function refusal(status: Status): HandshakeStep {
  return { kind: 'refuse', bytes: answer(status) };
}

/** A complete response, after which the connection is closed. `isHead`: the response to HEAD, without content. */
function answer(status: Status, isHead = false, field = status === 407 ? CHALLENGE : ''): Buffer {
  const phrase = `${status} ${REASONS[status]}`;
  const body = `${phrase}\n`;
  const head =
    `HTTP/1.1 ${phrase}\r\n${field}` +
    `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.from(isHead ? head : head + body, 'latin1');
}

interface BasicCredentials {
  readonly username: Uint8Array;
  readonly password: Uint8Array;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const COLON = 0x3a;
/** As in RFC 1929 §2, so that the limits do not depend on the protocol of the client. */
const MAX_BYTES = 255;

/** Null: another scheme, or credentials that no account can have. A user name ends at the first colon. */
function readBasic(value: string): BasicCredentials | null {
  const [, encoded] = BASIC.exec(value) ?? [];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  const colonAt = bytes.indexOf(COLON);
  if (colonAt === -1) return null;
  const username = bytes.subarray(0, colonAt);
  const password = bytes.subarray(colonAt + 1);
  const isBetween = ({ length }: Uint8Array): boolean => length >= 1 && length <= MAX_BYTES;
  return isBetween(username) && isBetween(password) ? { username, password } : null;
}
