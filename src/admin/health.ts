// /healthz and /readyz for supervisors and load balancers: no credentials, and nothing told but yes or no.
import type { Context, Middleware } from 'koa';

export interface HealthUses {
  /** Resolves while the daemon takes work: its database answers, and it is not stopping. Rejects otherwise. */
  readonly ready: () => Promise<void>;
}

/** How long the database may take to answer. */
const READY_TIMEOUT_MS = 2_000;

export function healthRoutes({ ready }: HealthUses): Middleware {
  // Not async: every request to the rest passes here.
  return (ctx, next) => {
    const { path } = ctx;
    if (path !== '/healthz' && path !== '/readyz') return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    return tell(ctx, ready);
  };
}

async function tell(ctx: Context, ready: HealthUses['ready']): Promise<void> {
  const isGood = ctx.path === '/healthz' || (await within(ready()));
  ctx.status = isGood ? 200 : 503;
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
  ctx.body = isGood ? 'ok\n' : 'not ready\n';
}

async function within(asked: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, READY_TIMEOUT_MS, false);
  });
  const answered = asked.then(
    () => true,
    () => false,
  );
  const isGood = await Promise.race([answered, late]);
  clearTimeout(timer);
  return isGood;
}
