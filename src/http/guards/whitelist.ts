// Stage 1: the IP whitelist. Every request checks the current list, so a change takes effect at once.
import type { Middleware } from 'koa';
import { refuse } from '../answer.js';
import type { AdminState } from '../state.js';

export function whitelistGuard(allows: (address: string) => boolean): Middleware<AdminState> {
  return (ctx, next) => {
    if (!allows(ctx.state.client)) return refuse(ctx, 'not-whitelisted');
    return next();
  };
}
