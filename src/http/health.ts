// /healthz and /readyz for supervisors and load balancers: without credentials; the answer is `ok` or one code.
import type { Context, Middleware } from 'koa';

export interface HealthUses {
  /** Why the daemon accepts no work, as a code (`stopping`, `disk-full`); null: it does. */
  readonly trouble: () => Promise<string | null>;
}

/** How long the database may take to answer. */
const READY_TIMEOUT_MS = 2_000;

/** The code when it takes longer, or fails. */
const NO_ANSWER = 'database-no-answer';

export function healthRoutes({ trouble }: HealthUses): Middleware {
  // Not async: every other request passes here.
  return (ctx, next) => {
    const { path } = ctx;
    if (path !== '/healthz' && path !== '/readyz') return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    return answer(ctx, trouble);
  };
}

async function answer(ctx: Context, trouble: HealthUses['trouble']): Promise<void> {
  const what = ctx.path === '/healthz' ? null : await within(trouble());
  ctx.status = what === null ? 200 : 503;
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
  ctx.body = what === null ? 'ok\n' : `not ready: ${what}\n`;
}

async function within(asked: Promise<string | null>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, READY_TIMEOUT_MS, NO_ANSWER);
  });
  const what = await Promise.race([asked.catch(() => NO_ANSWER), late]);
  clearTimeout(timer);
  return what;
}
