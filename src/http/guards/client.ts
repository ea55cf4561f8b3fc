// Reads the client's address and the requested hosts once, for all later middleware.
import type { Middleware } from 'koa';
import type { Log } from '../../core/log.js';
import { type ClientReader, peerAddress } from '../client.js';
import { createOncePerKey } from '../once-per-key.js';
import type { AdminState } from '../state.js';

export function readClient(clients: ClientReader, log: Pick<Log, 'warn'>): Middleware<AdminState> {
  const seen = createOncePerKey();
  return (ctx, next) => {
    const { address, forwardedBy, hosts } = clients.read(ctx.req);
    ctx.state.client = address;
    ctx.state.hosts = hosts;
    ctx.state.isForwarded = forwardedBy !== null;
    if (forwardedBy !== null) {
      const peer = peerAddress(ctx.req.socket);
      const advice = 'list the proxy in admin.trustedProxies, and let it send X-Forwarded-For';
      if (seen.isFirst(peer)) log.warn({ peer, header: forwardedBy, advice }, 'untrusted forwarding header');
    }
    return next();
  };
}
