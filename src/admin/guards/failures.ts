// Around every stage: an exception is logged and answered with 500, and tells the client nothing.
import type { Middleware } from 'koa';
import type { Log } from '../../core/log.js';
import { refuse } from '../answer.js';

export function answerFailures(log: Pick<Log, 'error'>): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      // The path only: a query may hold what does not belong into a log.
      log.error({ err, method: ctx.method, path: ctx.path }, 'management request failed');
      refuse(ctx, 'server-error');
    }
  };
}
