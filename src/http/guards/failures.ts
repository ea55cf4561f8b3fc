// Outermost middleware: logs an exception and answers 500 without details.
import type { Middleware } from 'koa';
import { QueryTooSlowError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { refuse } from '../answer.js';

const TOO_SLOW =
  'the search took longer than database.readTimeout; search for three characters or more, or filter';

export function answerFailures(log: Pick<Log, 'error' | 'warn'>): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      if (err instanceof QueryTooSlowError) {
        log.warn({ err, method: ctx.method, path: ctx.path }, 'database query timed out');
        return refuse(ctx, 'too-slow', TOO_SLOW);
      }
      // Without the query string: it may contain private data.
      log.error({ err, method: ctx.method, path: ctx.path }, 'admin request failed');
      refuse(ctx, 'server-error');
    }
  };
}
