// Stage 0: a request that comes from one of our own outbound sockets came through the proxy. Nobody manages us that way.
import type { Middleware } from 'koa';
import { refuse } from '../answer.js';
import { peerAddress } from '../client.js';

/** Whether `address`:`port` is the local end of a socket that the SOCKS side has opened to a destination. */
export type IsOwnOutbound = (address: string, port: number) => boolean;

export function refuseOwnOutbound(isOwnOutbound: IsOwnOutbound): Middleware {
  return (ctx, next) => {
    const { socket } = ctx.req;
    if (isOwnOutbound(peerAddress(socket), socket.remotePort ?? 0)) return refuse(ctx, 'through-own-proxy');
    return next();
  };
}
