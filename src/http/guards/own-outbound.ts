// Stage 0: a request that comes from one of our own outbound sockets came through the proxy. Nobody manages us that way.
import type { Socket } from 'node:net';
import type { Middleware } from 'koa';
import { normalizeAddress } from '../../core/ip.js';
import type { SocketEnd } from '../../core/sessions/outbound.js';
import { refuse } from '../answer.js';
import { peerAddress } from '../client.js';

/** Whether the connection from `peer` to our listener `here` is one that the SOCKS side has opened; both unmapped. */
export type IsOwnOutbound = (peer: SocketEnd, here: SocketEnd) => boolean | Promise<boolean>;

export function refuseOwnOutbound(isOwnOutbound: IsOwnOutbound): Middleware {
  return async (ctx, next) => {
    const { peer, here } = endsOf(ctx.req.socket);
    if (await isOwnOutbound(peer, here)) return refuse(ctx, 'through-own-proxy');
    return next();
  };
}

interface Ends {
  readonly peer: SocketEnd;
  readonly here: SocketEnd;
}

const known = new WeakMap<Socket, Ends>();

/** Worked out once a connection: its ends do not change from one request to the next. */
function endsOf(socket: Socket): Ends {
  let ends = known.get(socket);
  if (!ends) {
    ends = {
      peer: { address: peerAddress(socket), port: socket.remotePort ?? 0 },
      here: { address: normalizeAddress(socket.localAddress ?? ''), port: socket.localPort ?? 0 },
    };
    known.set(socket, ends);
  }
  return ends;
}
