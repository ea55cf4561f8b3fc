// Serves routes of the /api/v1 contract: requests are checked by its schemas, failures are RFC 9457 problems.
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { ReadJsonObject } from '../body.js';
import type { AdminState } from '../state.js';
import type { ProblemCode, Route, RouteRequest } from './contract/common.js';

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given: exactly what the route's schemas let through. */
export interface Asked<R extends RouteRequest> {
  readonly params: Parsed<R['params']>;
  readonly query: Parsed<R['query']>;
  readonly body: Parsed<R['body']>;
}

/** A success: one of the route's statuses and its body. */
export interface Answered {
  readonly status: number;
  readonly body?: unknown;
}

/** A failure, as a value. */
export interface ProblemAnswer {
  readonly problem: z.infer<typeof ProblemCode>;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

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
      const asked = await read(ctx, route.request, readJsonObject);
      send(ctx, 'problem' in asked ? asked : await handler(asked));
    });
  }
}

async function read(
  ctx: Context,
  request: RouteRequest,
  readJsonObject: ReadJsonObject,
): Promise<Asked<RouteRequest> | ProblemAnswer> {
  const query = queryOf(ctx.querystring);
  if (query === null) return { problem: 'bad-request', detail: 'a query parameter is given more than once' };
  const errors: { path: string; message: string }[] = [];
  const check = (where: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (!schema) return undefined;
    const checked = schema.safeParse(value);
    if (checked.success) return checked.data;
    for (const { path, message } of checked.error.issues)
      errors.push({ path: [where, ...path].join('.'), message });
  };
  const params = check('path', request.params, ctx['params']);
  const checkedQuery = check('query', request.query, query);
  // A wrong address is told before the body is read.
  if (errors.length > 0) return { problem: 'validation', errors };
  if (!request.body) return { params, query: checkedQuery, body: undefined } as Asked<RouteRequest>;

  const body = await readJsonObject(ctx);
  if (!body.ok) return { problem: BODY_PROBLEMS[body.code] ?? 'bad-request', ...detailOf(body.detail) };
  const checkedBody = check('body', request.body, namedAs(request.body, body.fields));
  if (errors.length > 0) return { problem: 'validation', errors };
  return { params, query: checkedQuery, body: checkedBody } as Asked<RouteRequest>;
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

const PROBLEMS: Readonly<Record<z.infer<typeof ProblemCode>, { status: number; title: string }>> = {
  'bad-request': { status: 400, title: 'The request cannot be read' },
  validation: { status: 400, title: 'A value is not as it should be' },
  'signed-out': { status: 401, title: 'Not signed in' },
  'wrong-credentials': { status: 401, title: 'Wrong user name or password' },
  'totp-required': { status: 401, title: 'A one-time code is needed' },
  forbidden: { status: 403, title: 'Not allowed' },
  'wrong-scope': { status: 403, title: 'The token may not do this' },
  'cross-site': { status: 403, title: 'Another site sent this' },
  'not-found': { status: 404, title: 'There is no such object' },
  'method-not-allowed': { status: 405, title: 'Not with this method' },
  'username-taken': { status: 409, title: 'The user name is taken' },
  'would-lock-you-out': { status: 409, title: 'This would lock you out' },
  conflict: { status: 409, title: 'It conflicts with what there is' },
  'changed-meanwhile': { status: 412, title: 'It was changed meanwhile' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media-type': { status: 415, title: 'Not this content type' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'queue-full': { status: 429, title: 'The queue is full' },
  internal: { status: 500, title: 'The daemon failed' },
  unavailable: { status: 503, title: 'Not now' },
};

/** Seconds a caller is asked to wait where a problem passes by itself. */
const RETRY_AFTER_S: Readonly<Record<number, string>> = { 429: '5', 503: '10' };

function send(ctx: Context, result: Answered | ProblemAnswer): void {
  if ('problem' in result) {
    const { status, title } = PROBLEMS[result.problem];
    ctx.status = status;
    const wait = RETRY_AFTER_S[status];
    if (wait !== undefined) ctx.set('Retry-After', wait);
    ctx.set('Content-Type', 'application/problem+json; charset=utf-8');
    const { problem: code, errors } = result;
    const body = {
      type: 'about:blank',
      title,
      status,
      code,
      ...detailOf(result.detail),
      ...(errors ? { errors } : {}),
    };
    ctx.body = JSON.stringify(body);
    return;
  }
  ctx.status = result.status;
  if (result.body === undefined) return;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = JSON.stringify(result.body);
}

function detailOf(detail: string | undefined): { detail?: string } {
  return detail === undefined ? {} : { detail };
}
