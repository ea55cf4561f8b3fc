// Serves routes of the /api/v1 contract: requests are checked by its schemas, failures are RFC 9457 problems.
import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type { Context, ParameterizedContext } from 'koa';
import { z } from 'zod';
import type { ReadJsonObject } from '../body.js';
import type { Caller } from '../caller.js';
import type { AdminState } from '../state.js';
import type { Access, ProblemCode, Route, RouteRequest } from './contract/common.js';
import { type ProblemAnswer, sendProblem } from './problem.js';

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given: exactly what the route's schemas let through. */
export interface Asked<R extends RouteRequest> {
  readonly params: Parsed<R['params']>;
  readonly query: Parsed<R['query']>;
  readonly body: Parsed<R['body']>;
  readonly caller: Caller;
  /** `If-Match` as it was sent. */
  readonly ifMatch: string | null;
  /** The request itself: for bodies that are read as they come, and for what lasts as long as its connection. */
  readonly ctx: ParameterizedContext<AdminState>;
}

/** A success: one of the route's statuses and its body. */
export interface Answered {
  readonly status: number;
  /** A stream is sent as it comes, and needs a `Content-Type` among the headers. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type { ProblemAnswer } from './problem.js';

/** One handler a route, by `operationId`. */
export type Handlers<R extends Route> = {
  readonly [Each in R as Each['operationId']]: (
    asked: Asked<Each['request']>,
  ) => Promise<Answered | ProblemAnswer>;
};

/** Registers `routes` with their handlers. */
export function serveRoutes<R extends Route>(
  router: Router<AdminState>,
  routes: readonly R[],
  handlers: Handlers<R>,
  readJsonObject: ReadJsonObject,
): void {
  for (const route of routes) {
    // The types above have tied each handler to its route; a loop over them cannot say so.
    const handler = (
      handlers as Record<string, (asked: Asked<RouteRequest>) => Promise<Answered | ProblemAnswer>>
    )[route.operationId];
    if (!handler) throw new TypeError(`no handler for ${route.operationId}`);
    const path = route.path.replace(/\{(\w+)\}/g, ':$1');
    router.register(path, [route.method], async (ctx) => {
      const refused = refuseCaller(ctx.state.caller, route.access);
      if (refused) return sendProblem(ctx, refused);
      const asked = await read(ctx, route.request, readJsonObject);
      send(ctx, 'problem' in asked ? asked : await handler(asked));
    });
  }
}

/** Whether the caller may use a route of this access; null: it may. */
export function refuseCaller(caller: Caller | undefined, access: Access): ProblemAnswer | null {
  if (access === 'public') return null;
  if (!caller) return { problem: 'signed-out' };
  if (access === 'any' || caller.scopes === null) return null;
  if (access === 'operator') return { problem: 'wrong-scope', detail: 'tokens may not do this' };
  if (caller.scopes.includes(access)) return null;
  return { problem: 'wrong-scope', detail: `the token lacks the scope ${access}` };
}

/** Stands for whoever asks for what everybody may. */
const nobody = (address: string): Caller => ({ via: 'basic', name: '', scopes: [], address, key: null });

async function read(
  ctx: ParameterizedContext<AdminState>,
  request: RouteRequest,
  readJsonObject: ReadJsonObject,
): Promise<Asked<RouteRequest> | ProblemAnswer> {
  const query = queryOf(ctx.querystring);
  if (query === null) return { problem: 'bad-request', detail: 'a query parameter is given more than once' };
  const errors: { path: string; message: string }[] = [];
  const check = (where: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (!schema) return undefined;
    const checked = schema.safeParse(value, inLanguageOf(ctx));
    if (checked.success) return checked.data;
    for (const { path, message } of checked.error.issues)
      errors.push({ path: [where, ...path].join('.'), message });
  };
  const params = check('path', request.params, ctx['params']);
  const checkedQuery = check('query', request.query, query);
  // A wrong address is told before the body is read.
  if (errors.length > 0) return { problem: 'validation', errors };
  const around = {
    params,
    query: checkedQuery,
    caller: ctx.state.caller ?? nobody(ctx.state.client),
    ifMatch: ctx.req.headers['if-match'] ?? null,
    ctx,
  };
  if (!request.body) return { ...around, body: undefined } as Asked<RouteRequest>;

  const body = await readJsonObject(ctx);
  if (!body.ok) return { problem: BODY_PROBLEMS[body.code] ?? 'bad-request', ...detailOf(body.detail) };
  const checkedBody = check('body', request.body, namedAs(request.body, body.fields));
  if (errors.length > 0) return { problem: 'validation', errors };
  return { ...around, body: checkedBody } as Asked<RouteRequest>;
}

const CHINESE = z.locales.zhCN().localeError;

/** Schemas say what they have against a value in Chinese to whoever prefers it, in English else. */
function inLanguageOf(ctx: ParameterizedContext<AdminState>): { error?: typeof CHINESE } {
  return /^zh\b/i.test(ctx.get('accept-language')) ? { error: CHINESE } : {};
}

const BODY_PROBLEMS: Readonly<Record<string, z.infer<typeof ProblemCode>>> = {
  'body-too-large': 'too-large',
  'unsupported-body': 'unsupported-media-type',
};

/** The body's values under the names of the schema: the reader knows them by lower-case names. */
function namedAs(schema: z.ZodType, fields: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const names = 'shape' in schema ? Object.keys(schema.shape as object) : [];
  return Object.fromEntries(
    names.flatMap((name) => (fields.has(name.toLowerCase()) ? [[name, fields.get(name.toLowerCase())]] : [])),
  );
}

function queryOf(querystring: string): Record<string, string> | null {
  const entries = [...new URLSearchParams(querystring)];
  const names = new Set(entries.map(([name]) => name));
  return names.size === entries.length ? Object.fromEntries(entries) : null;
}

function send(ctx: Context, result: Answered | ProblemAnswer): void {
  if ('problem' in result) return sendProblem(ctx, result);
  ctx.status = result.status;
  if (result.headers) ctx.set({ ...result.headers });
  if (result.body === undefined) return;
  if (result.body instanceof Readable || Buffer.isBuffer(result.body)) {
    ctx.body = result.body;
    return;
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = JSON.stringify(result.body);
}

function detailOf(detail: string | undefined): { detail?: string } {
  return detail === undefined ? {} : { detail };
}
