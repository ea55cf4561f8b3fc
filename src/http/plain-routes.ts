// Routes outside /api/v1: health, the control socket's own, and webhooks.
import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type Router from '@koa/router';
import Koa, { type Context, type Middleware, type ParameterizedContext } from 'koa';
import type { HandleHook, HookAnswer } from '../core/agents/webhooks.js';
import { tryOr } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { getOrAdd } from '../core/maps.js';
import { printable } from '../core/text.js';
import { within } from '../core/time/timers.js';
import type { AdminState } from './caller.js';
import { CONTROL_TOKEN_HEADER, commandCaller, IDENTITY_PATH, RESTART_PATH, USER_HEADER } from './caller.js';
import { answerFailures, otherMethods, unknownPath } from './guards/failures.js';
import { type BodyBytes, createBytesReader } from './request.js';

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

/** Most commands at the same time. A command sends one request after another. */
const MAX_CONNECTIONS = 64;
const REQUEST_TIMEOUT_MS = 30_000;

/** A restart in place, as a command asks for it. */
export interface RestartControl {
  /** Which execution of the program this is, and why its last restart failed; null: it has not. */
  state(): RestartState;
  /** Resolves when the program on disk has checked what it would start with: with why not, or with null. Then `begin` may be called. */
  check(): Promise<string | null>;
  begin(): void;
}

export interface RestartState {
  /** Null: it is not ready yet. */
  readonly instance: string | null;
  readonly problem: string | null;
}

export interface ControlAccess {
  /** Of the daemon, which a command reads before it asks anything else. */
  readonly identity: string;
  /** Of the data folder: programs of agents run as the same user and may connect, but cannot read it. */
  readonly token: string;
}

export function createControlServer(
  v1: Router<AdminState>,
  log: Log,
  { identity, token }: ControlAccess,
  restarts: RestartControl,
): Server {
  const app = new Koa<AdminState>();
  app.use(answerFailures(log));
  app.use((ctx, next) => {
    const [given, expected] = [Buffer.from(ctx.get(CONTROL_TOKEN_HEADER)), Buffer.from(token)];
    if (given.length === expected.length && timingSafeEqual(given, expected)) return next();
    ctx.status = 401;
    ctx.body = { title: 'Unauthorized', detail: 'the token of the control socket is missing or wrong' };
  });
  app.use((ctx, next) => {
    if (ctx.path !== IDENTITY_PATH) return next();
    ctx.body = JSON.stringify(identity);
  });
  app.use(async (ctx, next) => {
    if (ctx.path !== RESTART_PATH) return next();
    const problem = ctx.method === 'POST' ? await restarts.check() : null;
    if (problem !== null) ctx.status = 409;
    else if (ctx.method === 'POST') ctx.res.once('finish', () => restarts.begin());
    ctx.body = JSON.stringify({ ...restarts.state(), ...(problem === null ? {} : { problem }) });
  });
  app.use((ctx, next) => {
    const name = userOf(ctx.get(USER_HEADER));
    Object.assign(ctx.state, {
      client: '',
      isForwarded: false,
      hosts: [],
      caller: commandCaller(name),
    } satisfies AdminState);
    return next();
  });
  app.use(v1.routes());
  app.use(otherMethods());
  app.use(unknownPath());
  app.on('error', (err: unknown) => log.debug({ err }, 'control socket response failed'));
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, app.callback());
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function userOf(header: string): string {
  const name = tryOr('', () => decodeURIComponent(header));
  return printable(name, 60) || 'unknown';
}

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
  const bytes = await getOrAdd(readers, maxBytes, createBytesReader)(ctx);
  if (bytes === 'too-large') return null;
  return bytes === 'cut-short' ? new Uint8Array() : bytes;
}
