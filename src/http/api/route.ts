// A route of /api/v1 or of the player's page: path, access, schemas and handler in one value.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import { TOKEN_SCOPES } from '../../core/auth/operator.js';
import type { AdminState, Caller } from '../caller.js';
import type { Services } from '../services.js';
import type { ProblemAnswer } from './problem.js';
import { IdParams } from './schemas.js';

export const Scope = z.enum(TOKEN_SCOPES).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

/**
 * Who may call a route: `public` (whitelist only), `any` (every caller with credentials, tokens too), `person` (console session or
 * Basic, never a token), `administrator` (like `person`, but not an operator), or the scope that a token or an operator's role
 * needs.
 */
export type Access = 'public' | 'any' | 'person' | 'administrator' | Scope;

export interface RouteRequest {
  /** The parameters in braces in the path; `{id}` is a GUID and is not named here. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** The schema of a JSON body. `raw` instead lists media types, and the handler reads the body as a stream. */
  readonly body?: z.ZodType;
  readonly raw?: readonly string[];
}

/** The only success of a route: its status, what it means, and its body, a schema of JSON unless `contentType` differs. */
type Success = readonly [
  status: number,
  description: string,
  body?: z.ZodType | { readonly contentType: string; readonly schema?: z.ZodType },
];

/** A route's description in the OpenAPI document. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path in OpenAPI's form: `/api/v1/accounts/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  /** The answer covers all accounts together, so sellers, who see only their own accounts, may not call the route. */
  readonly ofAllAccounts?: boolean;
  /**
   * What the request gives outlasts its console session, such as a token: such a session needs a recent confirmation
   * (`POST /api/v1/session/confirm`). A function decides by the fields of query and body.
   */
  readonly needsConfirmation?: true | ((fields: Readonly<Record<string, unknown>>) => boolean);
  /** The answer carries an `ETag`. A change checks `If-Match`, and a mismatch is 412. */
  readonly etag?: boolean;
  readonly request: RouteRequest;
  /** Every failure is a Problem. */
  readonly success: Success;
  /** Failure statuses to document beyond those that follow from access and request (openapi.ts). */
  readonly problems?: readonly number[];
  /** The body limit is `admin.maxBulkBody` bytes in place of `admin.maxBody`. */
  readonly bulkBody?: boolean;
  /** Its answer shows once what takes the place of something earlier. */
  readonly renews?: boolean;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** The input of a handler, checked by the schemas of its route. */
export interface HandlerInput<R extends RouteRequest> {
  readonly params: Parsed<R['params']>;
  readonly query: Parsed<R['query']>;
  readonly body: Parsed<R['body']>;
  readonly caller: Caller;
  readonly ifMatch: string | null;
  readonly kept: Kept;
  /** Makes the change of a `raw` body, when all of it has arrived: `content` stands for it, by which a repeated request is known. */
  once(
    content: string,
    change: (caller: Caller) => Promise<Answered | ProblemAnswer>,
  ): ReturnType<typeof change>;
  /** The request itself, for bodies that are read as streams and for work that lasts as long as its connection. */
  readonly ctx: ParameterizedContext<AdminState>;
}

/** What is kept of a request before it is answered, for one that repeats it (v1/once.ts). */
export interface Kept {
  /** Returns a new secret that the answer shows, or the one of the request that this one repeats. */
  secret(name: string, make: () => string): string;
  /** Makes the answer at the end of a transaction; null: the request changes more. */
  answer?: () => Answered | null;
}

/** @param secrets gets the new ones */
export const keptIn = (secrets: Record<string, string>): Kept => ({
  secret(name, make) {
    secrets[name] ??= make();
    return secrets[name];
  },
});

export interface Answered {
  /** A stream is sent as it arrives. It needs a `Content-Type` in `headers`. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A success without a body. */
export const DONE: Answered = {};

/** Handles a request that passed the route's access check and schemas. `Deps`: the handler's dependencies. */
type Handler<R extends RouteRequest, Deps> = (
  input: HandlerInput<R>,
  deps: Deps,
) => Promise<Answered | ProblemAnswer>;

export interface Route<Deps = Services> extends RouteDescription {
  readonly handle: Handler<RouteRequest, Deps>;
}

/** Whether requests may carry `Idempotency-Key`: those that create or renew something or change accounts. */
export const takesKey = ({ method, access, renews, success: [status] }: RouteDescription): boolean =>
  renews === true ||
  status === 201 ||
  status === 202 ||
  (access === 'accounts:write' && /^(POST|PATCH)$/.test(method));

type Endpoint = `${RouteDescription['method']} /${string}`;

/** What a route says in an object, behind its endpoint, its operation and who may call it. */
type Description = Omit<RouteDescription, 'method' | 'path' | 'operationId' | 'access' | 'tag' | 'request'>;

/** Makes a route that keeps the types of its endpoint, schemas and answers, so that the command line's calls have them. */
type MakeRoute<Deps> = <
  const E extends Endpoint,
  const Request extends RouteRequest = object,
  const R extends Description = Description,
>(
  endpoint: E,
  operationId: string,
  access: Access,
  // Ties the handler to the schemas of its route. A list of routes cannot express that.
  description: R & { readonly request?: Request; readonly handle: Handler<RequestTo<E, Request>, Deps> },
) => Omit<Route<Deps>, 'request' | 'success'> &
  R & { readonly endpoint: E; readonly request: RequestTo<E, Request> };

type RequestTo<E, Request> = E extends `${string}{id}${string}`
  ? Request & { readonly params: typeof IdParams }
  : Request;

/**
 * Makes the routes of one group.
 * @example
 * const { route } = routesOf('Tokens');
 * route('GET /api/v1/tokens', 'listTokens', 'person', { …, async handle({ query }, { apiTokens }) { return { body: … }; } })
 */
export function routesOf<Deps = Services>(tag: string) {
  const route = (
    endpoint: Endpoint,
    operationId: string,
    access: Access,
    rest: { request?: RouteRequest },
  ) => {
    const [method, path = ''] = endpoint.split(' ');
    const request = { ...(path.includes('{id}') ? { params: IdParams } : {}), ...rest.request };
    return { ...rest, request, endpoint, method, path, operationId, access, tag };
  };
  return { route: route as unknown as MakeRoute<Deps> };
}

/** Returns the strong entity tag of a JSON value. */
export const etagOf = (value: unknown): string =>
  `"${hash('sha256', JSON.stringify(value), 'hex').slice(0, 32)}"`;

/** The value of `If-Match`; null: the request changes whatever version there is. */
export function ifMatchOf({ headers }: IncomingMessage): string | null {
  return headers['if-match'] ?? null;
}

/**
 * Returns whether `If-Match` names `etag`. A request without the header always matches. A weak tag never matches; in a list, any
 * tag may match.
 */
export function matches(ifMatch: string | null, etag: string): boolean {
  if (ifMatch === null || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((each) => each.trim() === etag);
}

/** Returns the problem of a change whose `If-Match` does not name `etag`; null: it does. */
export const versionProblem = (ifMatch: string | null, etag: string): ProblemAnswer | null =>
  matches(ifMatch, etag) ? null : { problem: 'changed-meanwhile' };
