// The responses that the proxy itself sends (RFC 9110 §15). They contain nothing about the player or our network.
import { Reply, type ReplyCode } from '../socks5.js';

const REASONS = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
} as const;
export type Status = keyof typeof REASONS;

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
export const TUNNEL_OPEN = Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n', 'latin1');

/** RFC 7617 §2 and §2.1. */
const CHALLENGE = 'Proxy-Authenticate: Basic realm="Pulsegate", charset="UTF-8"\r\n';

/** A complete response, after which the connection is closed. `isHead`: the response to HEAD, without content. */
export function answer(status: Status, isHead = false): Buffer {
  const phrase = `${status} ${REASONS[status]}`;
  const body = `${phrase}\n`;
  const head =
    `HTTP/1.1 ${phrase}\r\n${status === 407 ? CHALLENGE : ''}` +
    `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.from(isHead ? head : head + body, 'latin1');
}

/** The HTTP status for a SOCKS5 reply code (RFC 1928 §6). */
export function statusOf(reply: ReplyCode): Status {
  return STATUS_OF_REPLY[reply];
}
