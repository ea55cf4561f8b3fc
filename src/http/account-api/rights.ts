// The rights of callers of the account API, and of the account form.
import type { Middleware, ParameterizedContext } from 'koa';
import { refuse } from '../answer.js';
import { refuseCaller } from '../api/serve.js';
import type { RefuseNow } from '../current-access.js';
import type { AdminState } from '../state.js';

/** Requires a scope, as the routes of /api/v1 do. */
export const needs =
  (scope: 'accounts:read' | 'accounts:write'): Middleware<AdminState> =>
  (ctx, next) =>
    refuseCaller(ctx.state.caller, scope) ? refuse(ctx, 'not-permitted') : next();

/** Answers a caller who lost its rights while it sent the body; false: it still has them. */
export function refuseFormer(ctx: ParameterizedContext<AdminState>, refuseNow: RefuseNow): boolean {
  const refused = ctx.state.caller && refuseNow(ctx.state.caller);
  if (!refused) return false;
  refuse(ctx, refused.problem === 'signed-out' ? 'wrong-credentials' : 'not-permitted');
  return true;
}
