// Who is asking: the address that the whitelist, the delay and the local-range check are applied to.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from 'proxy-addr';
import { StartError } from '../core/errors.js';
import { normalizeAddress, parseIp } from '../core/ip.js';

/** Stands for a client whose address cannot be read: no whitelist entry and no range holds it. */
export const UNKNOWN_CLIENT = 'unknown';

const peers = new WeakMap<Socket, string>();

/** Address of the other end of the connection, unmapped. Worked out once a connection, and kept when it breaks. */
export function peerAddress(socket: Socket): string {
  let address = peers.get(socket);
  if (address === undefined) {
    address = normalizeAddress(socket.remoteAddress ?? UNKNOWN_CLIENT);
    peers.set(socket, address);
  }
  return address;
}

/**
 * Makes the function that tells a request's client address: the peer, or, when the peer is one of `trustedProxies`
 * (addresses or blocks), the rightmost address of X-Forwarded-For that is not. IPv4-mapped addresses are unmapped.
 * Throws StartError when a trusted proxy is neither an address nor a block.
 */
export function createClientAddress(trustedProxies: readonly string[]): (req: IncomingMessage) => string {
  const trusts = compile(trustedProxies);
  return (req) => {
    const peer = peerAddress(req.socket);
    if (trustedProxies.length === 0 || !trusts(peer, 0)) return peer;
    const address = normalizeAddress(proxyAddr(req, (hop, index) => trusts(normalizeAddress(hop), index)));
    return parseIp(address) ? address : UNKNOWN_CLIENT;
  };
}

/**
 * Whether the client's connection is encrypted, here or, as the header says, at a proxy. Whoever makes the header up only
 * keeps a cookie from travelling in the clear.
 */
export function isSecure(req: IncomingMessage): boolean {
  return 'encrypted' in req.socket || /^https\s*(,|$)/i.test(String(req.headers['x-forwarded-proto'] ?? ''));
}

function compile(trustedProxies: readonly string[]): ReturnType<typeof proxyAddr.compile> {
  try {
    return proxyAddr.compile([...trustedProxies]);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const todo = 'Write addresses or networks such as 10.0.0.0/8.';
    throw new StartError('bad-trusted-proxy', `admin.trustedProxies: ${why}. ${todo}`, { cause });
  }
}
