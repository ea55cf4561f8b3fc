// Refuses requests from our own outbound sockets. They came through the proxy, which operators do not use.
import type { Socket } from 'node:net';
import type { Middleware } from 'koa';
import { type Endpoint, normalizeAddress } from '../../core/ip.js';
import { refuse } from '../answer.js';
import { because } from '../api/problem-reasons.js';
import { peerAddress } from './client.js';

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

interface Ends {
  readonly peer: Endpoint;
  readonly here: Endpoint;
}

const known = new WeakMap<Socket, Ends>();

/** Computed once per connection: its endpoints do not change between requests. */
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
