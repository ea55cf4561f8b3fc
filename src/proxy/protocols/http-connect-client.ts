// The client side of HTTP CONNECT, for upstream proxies: RFC 9110 §9.3.6 and §11.7. Parses bytes and returns steps.
import { type ClientStep, failed, type UpstreamExchange } from './client-step.js';
import { Reply, type ReplyCode } from './socks5.js';

/** Maximum size of the header of a response. */
const MAX_HEAD_BYTES = 16 * 1024;
const END_OF_HEAD = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |\r|$)/;

const REPLY_BY_STATUS: Readonly<Record<string, ReplyCode>> = {
  403: Reply.notAllowedByRuleset,
  404: Reply.hostUnreachable,
  502: Reply.hostUnreachable,
  503: Reply.hostUnreachable,
  504: Reply.ttlExpired,
};

export interface HttpConnectOptions {
  /** A name that the upstream proxy resolves, or an address. */
  readonly destination: { readonly host: string; readonly port: number };
  /** Basic credentials (RFC 7617); null: none are sent. */
  readonly login: { readonly username: string; readonly password: string } | null;
}

export class HttpConnectClient implements UpstreamExchange {
  #hasAsked = false;
  #unread: Buffer = Buffer.alloc(0);

  constructor(private readonly options: HttpConnectOptions) {}

  feed(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
  }

  next(): ClientStep {
    if (!this.#hasAsked) {
      this.#hasAsked = true;
      return { kind: 'send', bytes: requestHead(this.options) };
    }
    const end = this.#unread.indexOf(END_OF_HEAD);
    if (end === -1) {
      return this.#unread.length > MAX_HEAD_BYTES ? failed('upstream-protocol') : { kind: 'more' };
    }
    const [, status] = STATUS_LINE.exec(this.#unread.toString('latin1', 0, end)) ?? [];
    if (status === undefined) return failed('upstream-protocol');
    // An interim response (RFC 9110 §15.2) precedes the final one.
    if (status.startsWith('1')) {
      this.#unread = this.#unread.subarray(end + END_OF_HEAD.length);
      return this.next();
    }
    if (status === '407') return failed('upstream-login');
    if (!status.startsWith('2')) {
      return {
        kind: 'failed',
        reply: REPLY_BY_STATUS[status] ?? Reply.generalFailure,
        reason: `upstream-status-${status}`,
      };
    }
    const rest = this.#unread.subarray(end + END_OF_HEAD.length);
    // An HTTP response does not contain the address that the proxy has bound.
    return { kind: 'done', bound: { address: '0.0.0.0', port: 0 }, rest: rest.length > 0 ? rest : null };
  }
}

function requestHead({ destination, login }: HttpConnectOptions): Buffer {
  const { host, port } = destination;
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const credentials = login && Buffer.from(`${login.username}:${login.password}`).toString('base64');
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    ...(credentials ? [`Proxy-Authorization: Basic ${credentials}`] : []),
  ];
  return Buffer.from(`${lines.join('\r\n')}${END_OF_HEAD}`, 'latin1');
}
