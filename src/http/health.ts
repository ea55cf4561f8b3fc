// /healthz, /readyz and /readyz/players for supervisors and load balancers. They need no credentials and answer `ok` or one code.
import type { Context, Middleware } from 'koa';
import { within } from '../core/timers.js';

export interface HealthDeps {
  /** Returns why the daemon accepts no work, as a code (`stopping`, `disk-full`); null: it does. */
  readonly trouble: () => Promise<string | null>;
  /**
   * Returns why the daemon accepts no players (`stopping`, `drained`, `listener-closed`, `listener-silent`); null: it does, also
   * without its database.
   */
  readonly playersTrouble: () => Promise<string | null>;
}

/** Time in which the database must answer. */
const READY_TIMEOUT_MS = 2_000;

/** The code when the database answers later, or fails. */
const NO_ANSWER = 'database-no-answer';

export function healthRoutes({ trouble, playersTrouble }: HealthDeps): Middleware {
  const routes: Readonly<Record<string, () => Promise<string | null>>> = {
    '/healthz': async () => null,
    '/readyz': async () =>
      (await within(READY_TIMEOUT_MS, trouble(), NO_ANSWER).catch(() => NO_ANSWER)) ?? playersTrouble(),
    '/readyz/players': playersTrouble,
  };
  // Not async: every other request passes here.
  return (ctx, next) => {
    const route = Object.hasOwn(routes, ctx.path) ? routes[ctx.path] : undefined;
    if (!route || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    return answer(ctx, route);
  };
}

async function answer(ctx: Context, route: () => Promise<string | null>): Promise<void> {
  const code = await route();
  ctx.status = code === null ? 200 : 503;
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
  ctx.body = code === null ? 'ok\n' : `not ready: ${code}\n`;
}
