// Determines the client's address, which must be on the whitelist, and the requested hosts: from the socket, and behind a trusted proxy from its headers.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Middleware } from 'koa';
import proxyAddr from 'proxy-addr';
import { type Endpoint, isLoopback, normalizeAddress, parseIp } from '../../core/addresses/ip.js';
import { StartError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { getOrAdd } from '../../core/maps.js';
import { refuse } from '../answer.js';
import { because } from '../api/problem.js';
import type { AdminState } from '../caller.js';
import { headerValues } from '../request.js';
import { createOncePerKey } from './host.js';

/** The client's address is unknown. No whitelist entry and no range contains this value. */
const UNKNOWN_CLIENT = 'unknown';

interface Ends {
  readonly peer: Endpoint;
  readonly here: Endpoint;
}

const known = new WeakMap<Socket, Ends>();

/** The ends of a connection, unmapped. They are computed once per connection, and stay known after it broke. */
const endsOf = (socket: Socket): Ends =>
  getOrAdd(known, socket, () => {
    const { remoteAddress = UNKNOWN_CLIENT, remotePort = 0, localAddress = '', localPort = 0 } = socket;
    return {
      peer: { address: normalizeAddress(remoteAddress), port: remotePort },
      here: { address: normalizeAddress(localAddress), port: localPort },
    };
  });

export const peerAddress = (socket: Socket): string => endsOf(socket).peer.address;

interface Client {
  /**
   * The address for the whitelist, the login delay and the local ranges. It is the peer's address, or behind a trusted proxy the
   * rightmost address of X-Forwarded-For that is not a trusted proxy. IPv4-mapped addresses are unmapped. It is UNKNOWN_CLIENT when
   * it cannot be parsed, and when an untrusted proxy on this machine forwards the request: otherwise every client would be
   * 127.0.0.1.
   */
  readonly address: string;
  /** The forwarding header that an untrusted peer sent; null: none. */
  readonly forwardedBy: string | null;
  /** Every host, with its port, that the request names. With DNS rebinding, the attacker's name is among them. */
  readonly hosts: readonly string[];
}

/** Headers in which proxies name the client. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];
const NO_HOSTS: readonly string[] = [];

/** Throws StartError when a trusted proxy is neither an address nor a block. */
export function createClientReader(trustedProxies: readonly string[]) {
  const trusts = compile(trustedProxies);
  /** Whether the address of a peer belongs to a trusted proxy. */
  const isTrusted = (peer: string) => trustedProxies.length > 0 && trusts(peer, 0);

  return {
    isTrusted,
    read(req: IncomingMessage): Client {
      const peer = peerAddress(req.socket);
      if (!isTrusted(peer)) return unlessForwarded(peer, req, hostsOf(req));
      const hosts = [...hostsOf(req), ...forwardedHosts(req)];
      // Only X-Forwarded-For counts: a proxy that sends only another header has not named its client.
      if (req.headers['x-forwarded-for'] === undefined) return unlessForwarded(peer, req, hosts);
      const address = normalizeAddress(proxyAddr(req, (hop, index) => trusts(normalizeAddress(hop), index)));
      return { address: parseIp(address) ? address : UNKNOWN_CLIENT, forwardedBy: null, hosts };
    },
  };
}

/**
 * Returns whether the client's connection is encrypted, here or, according to the header, at a proxy. A client that forges the
 * header only prevents its own cookie from being sent in clear text.
 */
export const isSecure = (req: IncomingMessage): boolean =>
  'encrypted' in req.socket || /^https\s*(,|$)/i.test(String(req.headers['x-forwarded-proto'] ?? ''));

function unlessForwarded(peer: string, { headers }: IncomingMessage, hosts: readonly string[]): Client {
  const forwardedBy = FORWARDING_HEADERS.find((name) => headers[name] !== undefined) ?? null;
  return { address: forwardedBy !== null && isLoopback(peer) ? UNKNOWN_CLIENT : peer, forwardedBy, hosts };
}

/** `Host`, and the host of a request target in absolute form, which takes precedence (RFC 9112 §3.2.2). */
function hostsOf(req: IncomingMessage): readonly string[] {
  const named = headerValues(req, 'host');
  const [, authority] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(req.url ?? '') ?? [];
  return authority === undefined ? named : [...named, authority];
}

/** Reads all values, not only the last one: a proxy appends its value to those that the client sent. */
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

export function readClient(
  clients: Pick<ReturnType<typeof createClientReader>, 'read'>,
  log: Pick<Log, 'warn'>,
): Middleware<AdminState> {
  const isFirst = createOncePerKey();
  return (ctx, next) => {
    const { address, forwardedBy, hosts } = clients.read(ctx.req);
    ctx.state.client = address;
    ctx.state.hosts = hosts;
    ctx.state.isForwarded = forwardedBy !== null;
    if (forwardedBy !== null) {
      const peer = peerAddress(ctx.req.socket);
      const advice = 'list the proxy in admin.trustedProxies, and let it send X-Forwarded-For';
      if (isFirst(peer)) log.warn({ peer, header: forwardedBy, advice }, 'untrusted forwarding header');
    }
    return next();
  };
}

export function whitelistGuard(allows: (address: string) => boolean): Middleware<AdminState> {
  return (ctx, next) => {
    const { client: address } = ctx.state;
    if (!allows(address)) return refuse(ctx, 'not-whitelisted', because('not-whitelisted', { address }));
    return next();
  };
}

/** Whether the SOCKS side opened the connection from `peer` to our listener `here`; both addresses are unmapped. */
export type IsOwnOutbound = (peer: Endpoint, here: Endpoint) => boolean | Promise<boolean>;

export function refuseOwnOutbound(isOwnOutbound: IsOwnOutbound): Middleware {
  return async (ctx, next) => {
    const { peer, here } = endsOf(ctx.req.socket);
    if (await isOwnOutbound(peer, here)) {
      return refuse(ctx, 'through-own-proxy', because('through-own-proxy'));
    }
    return next();
  };
}
