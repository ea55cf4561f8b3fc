// The first line of a request, RFC 9112 §3, and the target of CONNECT.
import { parseIp } from '../../../core/ip.js';
import type { ClientRequest } from '../client-request.js';
import { AddressType } from '../socks5.js';

export interface RequestLine {
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
