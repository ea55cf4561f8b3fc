// What a route of /api/v1 is: path, access, schemas and handler, together in one value.
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import { TOKEN_SCOPES } from '../../core/auth/token-scopes.js';
import type { ReadJsonObject } from '../body.js';
import type { Caller } from '../caller.js';
import type { AdminState } from '../state.js';
import type { ProblemAnswer } from './problem.js';

export const Scope = z.enum(TOKEN_SCOPES).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

/**
 * Who may call a route: `public` (whitelist only), `any` (every caller with credentials, tokens too), `person` (console session
 * or Basic, never a token), `administrator` (the same, and no operator), or the scope that a token or an operator's role needs.
 */
export type Access = 'public' | 'any' | 'person' | 'administrator' | Scope;

export interface RouteRequest {
  /** Values between braces in the path. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A JSON body, or, with `raw`, the media types that the handler reads as a stream. */
  readonly body?: z.ZodType;
  readonly raw?: readonly string[];
}

export interface RouteResponse {
  readonly description: string;
  /** JSON unless `contentType` says otherwise; without a schema there is no body. */
  readonly schema?: z.ZodType;
  readonly contentType?: string;
}

/** What the OpenAPI document says of a route. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/api/v1/accounts/{id}`: OpenAPI's form. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  /** It tells of all accounts together: nothing for sellers, who know only their own. */
  readonly ofAllAccounts?: boolean;
  /** The answer carries an `ETag`; on a change, `If-Match` is honoured and a mismatch is 412. */
  readonly etag?: boolean;
  readonly request: RouteRequest;
  /** Success statuses only; every failure is a Problem. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Statuses of failures to document beside 400, 401, 403 and 500. */
  readonly problems?: readonly number[];
  /** The body may have `admin.maxBulkBody` bytes in place of `admin.maxBody`. */
  readonly bulkBody?: boolean;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given: exactly what the schemas of its route let through. */
export interface Asked<R extends RouteRequest> {
  readonly params: Parsed<R['params']>;
  readonly query: Parsed<R['query']>;
  readonly body: Parsed<R['body']>;
  readonly caller: Caller;
  /** `If-Match` as it was sent. */
  readonly ifMatch: string | null;
  /** The request itself: for bodies that are read as streams, and for what lasts as long as its connection. */
  readonly ctx: ParameterizedContext<AdminState>;
}

/** A success: one of the route's statuses and its body. */
export interface Answered {
  readonly status: number;
  /** A stream is sent as it comes, and needs a `Content-Type` among the headers. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request that passed the route's access and schemas. `Uses`: what the handler needs of the daemon. */
export type Handler<R extends RouteRequest, Uses> = (
  asked: Asked<R>,
  uses: Uses,
) => Promise<Answered | ProblemAnswer>;

/** Answers a request that passed the route's access only: it reads and checks the request itself. */
export type UncheckedHandler<Uses> = (
  ctx: ParameterizedContext<AdminState>,
  uses: Uses,
  readJsonObject: ReadJsonObject,
) => Promise<void>;

export interface Route<Uses> extends RouteDescription {
  readonly handler:
    | { readonly isChecked: true; readonly handle: Handler<RouteRequest, Uses> }
    | { readonly isChecked: false; readonly handle: UncheckedHandler<Uses> };
}

/**
 * Makes the routes of one group.
 * @example
 * const { route } = routesOf<TokenUses>('Tokens');
 * route({ method: 'GET', path: '/api/v1/tokens', … }, async ({ query }, { apiTokens }) => ({ status: 200, … }))
 */
export function routesOf<Uses>(tag: string) {
  return {
    route<const R extends Omit<RouteDescription, 'tag'>>(
      description: R,
      handle: Handler<R['request'], Uses>,
    ): Route<Uses> {
      // The type above ties the handler to its schemas; a list of routes cannot express that.
      return {
        ...description,
        tag,
        handler: { isChecked: true, handle: handle as Handler<RouteRequest, Uses> },
      };
    },
    uncheckedRoute(description: Omit<RouteDescription, 'tag'>, handle: UncheckedHandler<Uses>): Route<Uses> {
      return { ...description, tag, handler: { isChecked: false, handle } };
    },
  };
}
