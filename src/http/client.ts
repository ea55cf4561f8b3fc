// Finds the client's address and the requested hosts: from the socket, and behind a trusted proxy from its headers.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from 'proxy-addr';
import { StartError } from '../core/errors.js';
import { inCidr, normalizeAddress, parseCidr, parseIp } from '../core/ip.js';
import { headerValues } from './header-values.js';

/** The client's address is unknown: no whitelist entry and no range contains this. */
export const UNKNOWN_CLIENT = 'unknown';

const peers = new WeakMap<Socket, string>();

/** Remote address of the connection, unmapped. Computed once per connection, and still known after it broke. */
export function peerAddress(socket: Socket): string {
  let address = peers.get(socket);
  if (address === undefined) {
    address = normalizeAddress(socket.remoteAddress ?? UNKNOWN_CLIENT);
    peers.set(socket, address);
  }
  return address;
}

export interface Client {
  /**
   * The address that the whitelist, the delay and the local ranges are applied to: the peer, or, when the peer is a trusted
   * proxy, the rightmost address of X-Forwarded-For that is not. IPv4-mapped addresses are unmapped. It is UNKNOWN_CLIENT
   * when it cannot be read, and when this machine forwards for somebody without being trusted to say for whom: else
   * everybody would be 127.0.0.1.
   */
  readonly address: string;
  /** The forwarding header that an untrusted peer sent; null: none. */
  readonly forwardedBy: string | null;
  /** Every host, with its port, that the request names: with DNS rebinding, the attacker's name is among them. */
  readonly hosts: readonly string[];
}

export interface ClientReader {
  read(req: IncomingMessage): Client;
  /** Whether the address of a peer is a trusted proxy's. */
  isTrusted(peer: string): boolean;
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr).filter((range) => range !== null);

/** Headers by which proxies name the client. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];
const NO_HOSTS: readonly string[] = [];

/** Throws StartError when a trusted proxy is neither an address nor a block. */
export function createClientReader(trustedProxies: readonly string[]): ClientReader {
  const trusts = compile(trustedProxies);
  const isTrusted = (peer: string) => trustedProxies.length > 0 && trusts(peer, 0);

  return {
    isTrusted,
    read(req) {
      const peer = peerAddress(req.socket);
      if (!isTrusted(peer)) return unlessForwarded(peer, req, hostsOf(req));
      const hosts = [...hostsOf(req), ...forwardedHosts(req)];
      // Only X-Forwarded-For is read: a proxy that sends another header alone has not named its client.
      if (req.headers['x-forwarded-for'] === undefined) return unlessForwarded(peer, req, hosts);
      const address = normalizeAddress(proxyAddr(req, (hop, index) => trusts(normalizeAddress(hop), index)));
      return { address: parseIp(address) ? address : UNKNOWN_CLIENT, forwardedBy: null, hosts };
    },
  };
}

/**
 * Whether the client's connection is encrypted, here or, as the header says, at a proxy. Whoever makes the header up only
 * keeps a cookie from travelling in the clear.
 */
export function isSecure(req: IncomingMessage): boolean {
  return 'encrypted' in req.socket || /^https\s*(,|$)/i.test(String(req.headers['x-forwarded-proto'] ?? ''));
}

function unlessForwarded(peer: string, { headers }: IncomingMessage, hosts: readonly string[]): Client {
  const forwardedBy = FORWARDING_HEADERS.find((name) => headers[name] !== undefined) ?? null;
  return { address: forwardedBy !== null && isLoopback(peer) ? UNKNOWN_CLIENT : peer, forwardedBy, hosts };
}

export function isLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && LOOPBACK.some((range) => inCidr(ip, range));
}

/** `Host`, and the host of a request target in absolute form, which goes before it (RFC 9112 §3.2.2). */
function hostsOf(req: IncomingMessage): readonly string[] {
  const named = headerValues(req, 'host');
  const [, authority] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(req.url ?? '') ?? [];
  return authority === undefined ? named : [...named, authority];
}

/** Not only the last one: a proxy that adds its value leaves what the client has sent before it. */
function forwardedHosts(req: IncomingMessage): readonly string[] {
  const plain = req.headers['x-forwarded-host'];
  const standard = req.headers['forwarded'];
  if (plain === undefined && standard === undefined) return NO_HOSTS;
  const hosts = [...String(standard ?? '').matchAll(/(?:^|[;,\s])host=(?:"([^"]*)"|([^;,\s]*))/gi)];
  return [
    ...(plain === undefined ? [] : String(plain).split(',')),
    ...hosts.map(([, quoted, token]) => quoted ?? token ?? ''),
  ].map((host) => host.trim());
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
