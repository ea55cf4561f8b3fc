// The constants of SOCKS5 from RFC 1928 and RFC 1929, and the messages that a server sends.
import { type IpBytes, parseIp, unmap } from '../../core/addresses/ip.js';

export const VERSION = 0x05; // RFC 1928 §3
export const METHOD_NO_AUTHENTICATION = 0x00; // RFC 1928 §3
export const METHOD_USERNAME_PASSWORD = 0x02; // RFC 1928 §3
const METHOD_NONE_ACCEPTABLE = 0xff; // RFC 1928 §3
export const LOGIN_VERSION = 0x01; // RFC 1929 §2
const LOGIN_SUCCESS = 0x00; // RFC 1929 §2
const LOGIN_FAILURE = 0x01; // RFC 1929 §2: any other value is a failure
const RESERVED = 0x00; // RFC 1928 §4

/** ATYP, RFC 1928 §4. */
export const AddressType = { ipv4: 0x01, domain: 0x03, ipv6: 0x04 } as const;

/** REP, RFC 1928 §6. */
export const Reply = {
  succeeded: 0x00,
  generalFailure: 0x01,
  notAllowedByRuleset: 0x02,
  networkUnreachable: 0x03,
  hostUnreachable: 0x04,
  connectionRefused: 0x05,
  ttlExpired: 0x06,
  commandNotSupported: 0x07,
  addressTypeNotSupported: 0x08,
} as const;
export type ReplyCode = (typeof Reply)[keyof typeof Reply];

/** A request in the terms of RFC 1928 §4, for all protocols. */
export interface ClientRequest {
  readonly command: 'connect' | 'bind' | 'udp';
  /** ATYP. */
  readonly addressType: number;
  /** DST.ADDR as raw bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}

/** The server's choice of a method, RFC 1928 §3. */
export const METHOD_SELECTED = Buffer.from([VERSION, METHOD_USERNAME_PASSWORD]);
export const NO_METHOD_SELECTED = Buffer.from([VERSION, METHOD_NO_AUTHENTICATION]);
export const METHODS_REFUSED = Buffer.from([VERSION, METHOD_NONE_ACCEPTABLE]);
/** The reply to a login, RFC 1929 §2; after a failure the connection must be closed. */
export const LOGIN_SUCCEEDED = Buffer.from([LOGIN_VERSION, LOGIN_SUCCESS]);
export const LOGIN_FAILED = Buffer.from([LOGIN_VERSION, LOGIN_FAILURE]);

/**
 * A reply to a request, RFC 1928 §6: 10 bytes with an IPv4 BND.ADDR, 22 with an IPv6 one.
 * Refusals carry 0.0.0.0:0. An address that cannot be read is sent as 0.0.0.0.
 */
export function replyFrame(code: ReplyCode, boundAddress?: string, boundPort = 0): Buffer {
  const bound = (boundAddress !== undefined && parseIp(boundAddress)) || NOWHERE;
  return withAddress([VERSION, code, RESERVED], bound, boundPort);
}

const NOWHERE = new Uint8Array(4);

/** `head` with ATYP, an address (an IPv4-mapped one as IPv4) and a port: RFC 1928 §4, §6 and §7. */
export function withAddress(head: readonly number[], ip: IpBytes, port: number): Buffer {
  const address = unmap(ip);
  const frame = Buffer.allocUnsafe(head.length + 3 + address.length);
  frame.set(head);
  frame[head.length] = address.length === 4 ? AddressType.ipv4 : AddressType.ipv6;
  frame.set(address, head.length + 1);
  frame.writeUInt16BE(port, frame.length - 2);
  return frame;
}

const REPLY_BY_ERRNO: Readonly<Record<string, ReplyCode>> = {
  ECONNREFUSED: Reply.connectionRefused,
  ENETUNREACH: Reply.networkUnreachable,
  ENETDOWN: Reply.networkUnreachable,
  EADDRNOTAVAIL: Reply.networkUnreachable,
  EHOSTUNREACH: Reply.hostUnreachable,
  EHOSTDOWN: Reply.hostUnreachable,
  ETIMEDOUT: Reply.ttlExpired,
  EACCES: Reply.notAllowedByRuleset,
  EPERM: Reply.notAllowedByRuleset,
};

/** The reply code for the system error code of a failed connection. */
export function replyForErrno(code: string | undefined): ReplyCode {
  return (code !== undefined && REPLY_BY_ERRNO[code]) || Reply.generalFailure;
}
