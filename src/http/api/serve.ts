// Serves the routes of /api/v1 and of the player’s page: checks access and schemas, calls the handler, and sends its answer.
import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type { Context, ParameterizedContext } from 'koa';
import { z } from 'zod';
import { closest } from '../../core/text.js';
import { REFUSALS, refuseRoute } from '../answer.js';
import type { AdminState, Caller, LostAccess } from '../caller.js';
import { isAdministrator, isPerson, isSeller } from '../caller.js';
import type { JsonBody, ReadJsonObject } from '../request.js';
import { failure, type ProblemAnswer, sendProblem } from './problem.js';
import type { Access, Answered, HandlerInput, Route, RouteDescription, RouteRequest } from './route.js';
import { ifMatchOf, keptIn } from './route.js';
import { type FieldFault, fieldError, fieldErrorOf } from './schemas.js';

interface BodyReaders {
  /** Fields that the schemas do not have: 400, or ignored. */
  readonly unknownFields: 'refused' | 'ignored';
  readonly readJsonObject: ReadJsonObject;
  readonly readBulkJsonObject: ReadJsonObject;
  /** Called after a body has been read: the caller may have lost its rights while it sent the body. */
  readonly lostAccess: LostAccess;
  /** Whether the caller has given its password or a one-time code recently. Basic gives the password with each request. */
  readonly isConfirmed: (caller: Caller) => Promise<boolean>;
}

/** Registers `routes`. Their handlers get the result of `depsFor` for the caller. */
export function serveRoutes<Deps>(
  router: Router<AdminState>,
  routes: readonly Route<Deps>[],
  depsFor: (caller: Caller | undefined) => Deps,
  readers: BodyReaders,
): void {
  for (const route of routes) {
    const path = route.path.replace(/\{(\w+)\}/g, ':$1');
    router.register(path, [route.method], (ctx) => answerRoute(ctx, route, depsFor, readers));
  }
}

/** Answers a request whose path and method are those of the route. @param send gives the caller what the handler returns */
export async function answerRoute<Deps>(
  ctx: ParameterizedContext<AdminState>,
  route: Route<Deps>,
  depsFor: (caller: Caller | undefined) => Deps,
  { readJsonObject, readBulkJsonObject, lostAccess, isConfirmed, unknownFields: unknown }: BodyReaders,
  send = sendAnswer,
): Promise<void> {
  const { request, bulkBody } = route;
  const readBody = bulkBody ? readBulkJsonObject : readJsonObject;
  const { caller } = ctx.state;
  const refused = routeProblem(caller, route);
  if (refused) return sendProblem(ctx, refused);
  const deps = depsFor(caller);
  const findUnknown = unknown === 'refused' ? unknownFields : () => [];
  const input = await read(ctx, request, readBody, { lostAccess, findUnknown });
  if ('problem' in input) return send(ctx, input);
  if (needsConfirmation(route, input) && !(await isConfirmed(input.caller))) return send(ctx, UNCONFIRMED);
  const result = await route.handle(input, deps);
  ctx.status = route.success[0];
  send(ctx, result);
}

const UNCONFIRMED: ProblemAnswer = failure('confirmation-required', 'confirm');

function needsConfirmation(
  { needsConfirmation: needs }: RouteDescription,
  input: HandlerInput<RouteRequest>,
) {
  if (typeof needs !== 'function') return needs === true;
  return needs({ ...(input.query as object), ...(input.body as object) });
}

/** Returns the problem of a caller who may not use this route; null: the caller may. */
export function routeProblem(
  caller: Caller | undefined,
  { access, ofAllAccounts }: Pick<RouteDescription, 'access' | 'ofAllAccounts'>,
): ProblemAnswer | null {
  return callerProblem(caller, access) ?? (ofAllAccounts && isSeller(caller) ? OF_ALL_ACCOUNTS : null);
}

/** Returns the problem of a caller who may not use a route with this access; null: the caller may. */
export function callerProblem(caller: Caller | undefined, access: Access): ProblemAnswer | null {
  if (access === 'public') return null;
  if (!caller) return { problem: 'signed-out' };
  if (access === 'any') return null;
  if (access === 'person' || access === 'administrator') {
    if (!isPerson(caller)) return failure('wrong-scope', 'tokens-may-not');
    return access === 'person' || isAdministrator(caller) ? null : ADMINISTRATOR_ONLY;
  }
  if (caller.scopes === null || caller.scopes.includes(access)) return null;
  if (!isPerson(caller)) return failure('wrong-scope', 'lacks-scope', { scope: access });
  return failure('wrong-role', 'role-lacks-scope', { role: caller.operator?.role ?? '', scope: access });
}

const ADMINISTRATOR_ONLY: ProblemAnswer = failure('wrong-role', 'administrator-only');

const OF_ALL_ACCOUNTS: ProblemAnswer = failure('wrong-role', 'of-all-accounts');

/** The caller of a public route without credentials. */
const nobody = (address: string): Caller => ({
  via: 'basic',
  name: '',
  operator: null,
  scopes: [],
  address,
  key: null,
});

async function read(
  ctx: ParameterizedContext<AdminState>,
  request: RouteRequest,
  readJsonObject: ReadJsonObject,
  { lostAccess, findUnknown }: { lostAccess: LostAccess; findUnknown: typeof unknownFields },
): Promise<HandlerInput<RouteRequest> | ProblemAnswer> {
  const query = queryOf(ctx.querystring);
  if (query === null) return failure('bad-request', 'query-twice');
  const errors: FieldFault[] = [];
  const check = (where: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (!schema) return undefined;
    errors.push(...findUnknown(where, schema, value));
    const checked = schema.safeParse(value, { reportInput: true });
    if (checked.success) return checked.data;
    errors.push(...checked.error.issues.map((issue) => fieldErrorOf(where, issue)));
  };
  const params = check('path', request.params, ctx['params']);
  const checkedQuery = check('query', request.query ?? NO_FIELDS, query);
  // Answers a wrong path or query before it reads the body.
  if (errors.length > 0) return { problem: 'validation', errors };
  const caller = ctx.state.caller ?? nobody(ctx.state.client);
  const rest = {
    params,
    query: checkedQuery,
    caller,
    once: (_content: string, change: (by: Caller) => unknown) => change(caller),
    ifMatch: ifMatchOf(ctx.req),
    kept: keptIn({}),
    ctx,
  };
  if (!request.body) return { ...rest, body: undefined } as HandlerInput<RouteRequest>;

  const body = await readJsonObject(ctx);
  const refused = ctx.state.caller ? lostAccess(ctx.state.caller) : null;
  if (refused) return refused;
  if (!body.ok) {
    const { problem } = { problem: 'bad-request' as const, ...REFUSALS[body.code] };
    return { problem, detail: body.detail };
  }
  const checkedBody = check('body', request.body, namedAs(request.body, body));
  if (errors.length > 0) return { problem: 'validation', errors };
  return { ...rest, body: checkedBody } as HandlerInput<RouteRequest>;
}

const NO_FIELDS = z.object({});

/** Returns the body's values under the names of the schema, which may be sent in any case, and the others as they were sent. */
function namedAs(schema: z.ZodType, { fields, names }: JsonBody & { ok: true }): Record<string, unknown> {
  const known = 'shape' in schema ? Object.keys(schema.shape as object) : [];
  const byFolded = new Map(known.map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    names.map((name) => [byFolded.get(name.toLowerCase()) ?? name, fields.get(name.toLowerCase())]),
  );
}

function queryOf(querystring: string): Record<string, string> | null {
  const entries = [...new URLSearchParams(querystring)];
  const names = new Set(entries.map(([name]) => name));
  return names.size === entries.length ? Object.fromEntries(entries) : null;
}

function sendAnswer(ctx: Context, result: Answered | ProblemAnswer): void {
  if ('problem' in result) return refuseRoute(ctx, result);
  if (result.headers) ctx.set({ ...result.headers });
  if (result.body === undefined) return;
  if (result.body instanceof Readable || Buffer.isBuffer(result.body)) {
    ctx.body = result.body;
    return;
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = JSON.stringify(result.body);
}

/** The parts of a schema's definition that lead to further schemas. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  /** Of an object that may have further fields. */
  readonly catchall?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

/** Returns an error for each field of `value`, at any depth, that `schema` does not have. @param path of the value in the request */
export function unknownFields(path: string, schema: z.ZodType, value: unknown): FieldFault[] {
  const definition = definitionOf(schema);
  const { shape, catchall, element, options, valueType, innerType } = definition;
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    if (element) return value.flatMap((each, index) => unknownFields(`${path}.${index}`, element, each));
  } else if (shape) {
    return catchall ? [] : unknownOf(path, shape, value as Readonly<Record<string, unknown>>);
  } else if (valueType) {
    return Object.entries(value).flatMap(([name, each]) => unknownFields(`${path}.${name}`, valueType, each));
  }
  // A value that fits no option is an error of its own.
  const inner =
    innerType ?? options?.find((option) => option.safeParse(value).success) ?? pipedInto(definition);
  return inner ? unknownFields(path, inner, value) : [];
}

function unknownOf(
  path: string,
  shape: Readonly<Record<string, z.ZodType>>,
  value: Readonly<Record<string, unknown>>,
): FieldFault[] {
  return Object.entries(value).flatMap(([name, each]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return known
      ? unknownFields(`${path}.${name}`, known, each)
      : [unknownField(`${path}.${name}`, name, shape)];
  });
}

function unknownField(path: string, name: string, shape: Readonly<Record<string, unknown>>): FieldFault {
  const names = Object.keys(shape);
  const nearest = closest(name, names);
  if (nearest !== undefined) return fieldError(path, 'unknown-near', { nearest });
  return names.length > 0
    ? fieldError(path, 'unknown', { allowed: names.join(', ') })
    : fieldError(path, 'none-allowed');
}

/** The schema that reads what was sent: the second one where the first only prepares the value. */
const pipedInto = ({ in: first, out }: Definition): z.ZodType | undefined =>
  first && definitionOf(first).type === 'transform' ? out : first;
