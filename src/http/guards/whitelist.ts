// The IP whitelist. Every request checks the current list, so a change takes effect at once.
import type { Middleware } from 'koa';
import { refuse } from '../answer.js';
import { because } from '../api/problem-reasons.js';
import type { AdminState } from '../state.js';

export function whitelistGuard(allows: (address: string) => boolean): Middleware<AdminState> {
  return (ctx, next) => {
    const { client: address } = ctx.state;
    if (!allows(address)) return refuse(ctx, 'not-whitelisted', because('not-whitelisted', { address }));
    return next();
  };
}
