// Stage 0: a request that comes from one of our own outbound sockets came through the proxy. Nobody manages us that way.
import type { Middleware } from 'koa';
import { normalizeAddress } from '../../core/ip.js';
import type { SocketEnd } from '../../core/sessions/outbound.js';
import { refuse } from '../answer.js';
import { peerAddress } from '../client.js';

/** Whether the connection from `peer` to our listener `here` is one that the SOCKS side has opened; both unmapped. */
export type IsOwnOutbound = (peer: SocketEnd, here: SocketEnd) => boolean | Promise<boolean>;

export function refuseOwnOutbound(isOwnOutbound: IsOwnOutbound): Middleware {
  return async (ctx, next) => {
    const { socket } = ctx.req;
    const peer = { address: peerAddress(socket), port: socket.remotePort ?? 0 };
    const here = { address: normalizeAddress(socket.localAddress ?? ''), port: socket.localPort ?? 0 };
    if (await isOwnOutbound(peer, here)) return refuse(ctx, 'through-own-proxy');
    return next();
  };
}
