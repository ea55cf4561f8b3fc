// Outermost middleware: logs an exception and answers 500 without details, or 503 with the problem of the database.
import type { Context, Middleware } from 'koa';
import { OverBudget } from '../../core/accounts/plans/budget.js';
import { RightsLost } from '../../core/auth/operator.js';
import { PasswordChecksBusy } from '../../core/auth/people-passwords.js';
import { QueryTooSlowError, storageProblemOf } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { isV1, refuse, refuseBusy } from '../answer.js';
import { because, failure, sendProblem } from '../api/problem.js';
import { fieldError } from '../api/schemas.js';

const TOO_SLOW = { slow: 'search-too-slow', busy: 'searches-busy' } as const;

export function answerFailures(log: Pick<Log, 'error' | 'warn'>): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      if (err instanceof QueryTooSlowError) {
        log.warn({ err, method: ctx.method, path: loggedPath(ctx.path) }, 'database query timed out');
        return refuse(ctx, 'too-slow', because(TOO_SLOW[err.reason]));
      }
      const problem = storageProblemOf(err);
      if (problem) {
        const fields = { err, problem, method: ctx.method, path: loggedPath(ctx.path) };
        log.warn(fields, 'request refused: database unavailable');
        // The account API: its convention names 500 for an error of the database, and 503 is for a PostgreSQL server that is away.
        const isFailure = problem !== 'database-away' && !isV1(ctx.path);
        return refuse(ctx, isFailure ? 'server-error' : 'database-unavailable', because(problem));
      }
      if (refuseKnown(ctx, err)) return;
      // The client disconnected in the middle of its body, and reads no answer.
      if (err === ctx.req.errored) return;
      // Logs the path without the query string, which may contain private data.
      log.error({ err, method: ctx.method, path: loggedPath(ctx.path) }, 'admin request failed');
      refuse(ctx, 'server-error');
    }
  };
}

/** Answers a change of accounts that the database refused to its maker, or a password that cannot be checked now; false: the error is another one. */
function refuseKnown(ctx: Context, err: unknown): boolean {
  if (err instanceof PasswordChecksBusy) {
    refuseBusy(ctx);
    return true;
  }
  if (err instanceof RightsLost) {
    if (isV1(ctx.path)) sendProblem(ctx, failure('wrong-role', err.reason));
    else refuse(ctx, 'not-permitted');
    return true;
  }
  if (!(err instanceof OverBudget)) return false;
  const code = Number.isFinite(err.needed) ? (`budget-${err.what}` as const) : 'budget-unbounded';
  const error = fieldError(`budget.${err.what}`, code, { left: err.left });
  if (isV1(ctx.path)) sendProblem(ctx, { problem: 'over-budget', detail: error.message, errors: [error] });
  else refuse(ctx, 'over-budget', error.message);
  return true;
}

/** Removes the secret token of a player's address. */
const loggedPath = (path: string): string => path.replace(/^\/(player|pac)\/[^/]*/, '/$1/…');

/** @koa/router stores in the context every route whose path matched, whatever its method. */
interface Routed {
  readonly matched?: readonly { readonly methods: readonly string[] }[];
}

/** Runs after a router: a path that the router knows under another method gets 405, or the answer to OPTIONS. Unknown paths go on. */
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

export const unknownPath = (): Middleware => (ctx) => refuse(ctx, 'path-not-found');
