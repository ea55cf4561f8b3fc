// Runs after a router. A path that the router knows under another method gets 405, or the answer to OPTIONS. An unknown path goes
// on.
import type { Middleware } from 'koa';
import { refuse } from '../answer.js';

/** @koa/router stores in the context every route whose path matched, whatever its method. */
interface Routed {
  readonly matched?: readonly { readonly methods: readonly string[] }[];
}

export function otherMethods(): Middleware {
  return (ctx, next) => {
    const { matched = [] } = ctx as Routed;
    if (matched.length === 0) return next();
    const methods = new Set(matched.flatMap((route) => route.methods));
    if (methods.size === 0) return next();
    ctx.set('Allow', [...methods, 'OPTIONS'].sort().join(', '));
    if (ctx.method !== 'OPTIONS') return refuse(ctx, 'method-not-allowed');
    ctx.status = 204;
  };
}

export function unknownPath(): Middleware {
  return (ctx) => refuse(ctx, 'path-not-found');
}
