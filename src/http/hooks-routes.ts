// /hooks: passes requests to the webhooks of agents. Neither the whitelist nor Basic applies to them.
import type { Context, Middleware, ParameterizedContext } from 'koa';
import type { HandleHook, HookAnswer } from '../core/agents/webhooks.js';
import { type BodyBytes, createBytesReader } from './body.js';
import type { AdminState } from './caller.js';

/** Answers everything under /hooks with `handle`. Other paths go on. */
export function hookRoutes(handle: HandleHook): Middleware<AdminState> {
  // Not async: every other request passes here.
  return (ctx, next) => {
    const { path } = ctx;
    if (path !== '/hooks' && !path.startsWith('/hooks/')) return next();
    return handOver(ctx, handle);
  };
}

async function handOver(ctx: ParameterizedContext<AdminState>, handle: HandleHook): Promise<void> {
  const answer = await handle({
    method: ctx.method,
    path: ctx.path,
    query: ctx.querystring,
    source: ctx.state.client,
    header: (name) => ctx.req.headersDistinct[name] ?? [],
    readBody: (maxBytes) => readBody(ctx, maxBytes),
  });
  send(ctx, answer);
}

function send(ctx: Context, { status, headers, body }: HookAnswer): void {
  ctx.status = status;
  ctx.set({ ...headers, 'Content-Type': 'application/json; charset=utf-8' });
  // Node would parse the unread rest of the body as the next request.
  if (!ctx.req.complete) {
    ctx.set('Connection', 'close');
    ctx.req.resume();
  }
  ctx.body = JSON.stringify(body);
}

/** By `maxBytes`. The limit is one for the whole daemon. */
const readers = new Map<number, (ctx: Context) => Promise<BodyBytes>>();

/** The body's bytes; null when there are more than `maxBytes`. A body that ended early counts as empty. */
async function readBody(ctx: ParameterizedContext<AdminState>, maxBytes: number): Promise<Uint8Array | null> {
  const read = readers.get(maxBytes) ?? createBytesReader(maxBytes);
  readers.set(maxBytes, read);
  const bytes = await read(ctx);
  if (bytes === 'too-large') return null;
  return bytes === 'cut-short' ? new Uint8Array() : bytes;
}
