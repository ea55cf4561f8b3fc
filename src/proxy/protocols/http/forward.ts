// Rewrites a request in absolute form (RFC 9112 §3.2.2) for its destination.
import { parseIp } from '../../../core/addresses/ip.js';
import { AddressType, type ClientRequest } from '../socks5.js';
import { type Framing, framingOf, NO_BODY } from './body.js';
import { connectionOptions, endToEnd, type Field, valuesOf, writeHead } from './head.js';

export interface ForwardedRequest {
  /** For the destination. */
  readonly head: Buffer;
  /** Of the body, which follows unchanged. */
  readonly framing: Framing;
  readonly isHead: boolean;
  /** The minor version of the client's HTTP/1. */
  readonly minor: 0 | 1;
  /** Whether the client may send another request after this one. */
  readonly isKept: boolean;
}

type Forwarding =
  | { readonly ok: true; readonly request: ClientRequest; readonly forward: ForwardedRequest }
  | { readonly ok: false; readonly status: 400 | 501 };

const HTTP_URL = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i;
const OTHER_URL = /^[a-z][a-z0-9+.-]*:/i;
const HTTP_PORT = 80;

export function readForwarding({ method, target, minor }: RequestLine, fields: readonly Field[]): Forwarding {
  const [, authority, path = ''] = HTTP_URL.exec(target) ?? [];
  if (authority === undefined) return refused(isOtherUrl(target) ? 501 : 400);
  // TRACE would show its sender the request as the destination gets it, and this proxy does not implement Max-Forwards
  // (RFC 9110 §7.6.2).
  if (method === 'TRACE' || (method === 'OPTIONS' && valuesOf(fields, 'max-forwards').length > 0)) {
    return refused(501);
  }
  const request = readAuthority(/:\d+$/.test(authority) ? authority : `${authority}:${HTTP_PORT}`);
  const options = connectionOptions(fields);
  const framing = framingOf(fields) ?? NO_BODY;
  if (request === null || options === null || framing === 'malformed') return refused(400);
  if (valuesOf(fields, 'host').length > 1 || (minor === 0 && framing.kind === 'chunked')) return refused(400);

  // RFC 9112 §3.2.4 and §3.2.1; the Host that the client sent is replaced, §3.2.2.
  const requestPath = path.startsWith('/') ? path : `/${path}`;
  const form = path === '' && method === 'OPTIONS' ? '*' : requestPath;
  const passedOn = endToEnd(fields, options).filter(({ lower }) => lower !== 'host');
  return {
    ok: true,
    request,
    forward: {
      // With HTTP/1.0 the response is not chunked, because a client of HTTP/1.0 cannot read chunks.
      head: writeHead(`${method} ${form} HTTP/1.${minor}`, [
        ['Host', authority],
        ...passedOn.map(({ name, value }) => [name, value] as const),
        ...(framing.kind === 'chunked' ? [['Transfer-Encoding', 'chunked'] as const] : []),
        ['Connection', 'close'],
      ]),
      framing,
      isHead: method === 'HEAD',
      minor,
      isKept: minor === 1 && !options.has('close'),
    },
  };
}

/** For `https://…` and other schemes clients use CONNECT. */
function isOtherUrl(target: string): boolean {
  return OTHER_URL.test(target) && !/^http:/i.test(target);
}

function refused(status: 400 | 501): Forwarding {
  return { ok: false, status };
}

/** RFC 9112 §3. */
interface RequestLine {
  readonly method: string;
  readonly target: string;
  /** The minor version of HTTP/1: 0 or 1 (a higher one counts as 1, RFC 9110 §2.5). */
  readonly minor: 0 | 1;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP\/(\d)\.(\d)$/;
/** RFC 9112 §3.2.3: a host and a port, both required. */
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:@/?#[\]\\]+)):(\d{1,5})$/;

export function readRequestLine(line: string): RequestLine | 'malformed' | 'version' {
  const [, method, target, major, minor] = REQUEST_LINE.exec(line) ?? [];
  if (method === undefined || target === undefined) return 'malformed';
  if (major !== '1') return 'version';
  return { method, target, minor: minor === '0' ? 0 : 1 };
}

/** `host:port` or `[address]:port` as a request to connect; null: malformed. */
export function readAuthority(authority: string): ClientRequest | null {
  const [, address, name, digits] = AUTHORITY.exec(authority) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) return null;
  if (name !== undefined) {
    return {
      command: 'connect',
      addressType: AddressType.domain,
      address: Buffer.from(name, 'latin1'),
      port,
    };
  }
  const ip = parseIp(address ?? '');
  return ip === null || ip.length !== 16
    ? null
    : { command: 'connect', addressType: AddressType.ipv6, address: ip, port };
}
