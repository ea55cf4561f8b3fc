// What every route of /api/v1 shares: times, ids, pages, errors, scopes, and what a route is.
import { z } from 'zod';
import { isWireDate, WIRE_DATE_RANGE } from '../../../core/wire-date.js';

/** ISO 8601 in UTC with `Z`: `2026-11-20T21:00:00Z` (fractions allowed). What the API answers. */
export const Time = z.iso
  .datetime()
  .meta({ id: 'Time', description: 'ISO 8601 in UTC, for example 2026-11-20T21:00:00Z.' });

/** What an error says of a time that no interface could write. */
export const TIME_RANGE = `must be in the range ${WIRE_DATE_RANGE}`;

/** What the API accepts as a time: ISO 8601 with `Z` or an offset, in the years 0001 to 9999 of UTC. */
export const TimeIn = z.iso
  .datetime({ offset: true })
  .refine((text) => isWireDate(Date.parse(text)), TIME_RANGE)
  .meta({
    id: 'TimeIn',
    description:
      'ISO 8601 with Z or an offset, for example 2026-11-20T21:00:00+08:00; years 0001 to 9999 in UTC.',
  });

/** A calendar day in UTC. */
export const Day = z.iso
  .date()
  .meta({ id: 'Day', description: 'A calendar day in UTC, for example 2026-11-20.' });

/** GUID, 8-4-4-4-12 hexadecimal. */
export const Guid = z.guid().meta({ id: 'Guid', description: 'GUID, 8-4-4-4-12 hexadecimal.' });

export const Count = z.int().min(0).meta({ id: 'Count' });
export const Bytes = z.int().min(0).meta({ id: 'Bytes', description: 'A number of bytes.' });
export const BytesPerSecond = z.number().min(0).meta({ id: 'BytesPerSecond' });

/** `?online=true`: only these two words, anything else is 400. */
export const Flag = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });

/** Opaque: what `nextCursor` of the page before said. */
export const Cursor = z.string().min(1).max(2_000);
export const MAX_PAGE = 1_000;
export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
  cursor: Cursor.optional(),
});

/**
 * One page of a list. `matched` of `total` is what a reader sees as "37 of 10,214":
 * `total` counts the objects there are, `matched` those that the search and filters leave.
 */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    matched: Count,
    total: Count,
    nextCursor: Cursor.nullable(),
  });
}

/** A page of what is not counted: there may be millions. */
export function openPageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: Cursor.nullable() });
}

/** What a machine may choose by; the text beside it is for people and may change. */
export const ProblemCode = z
  .enum([
    'bad-request',
    'validation',
    'signed-out',
    'wrong-credentials',
    'totp-required',
    'forbidden',
    'wrong-scope',
    'cross-site',
    'not-found',
    'method-not-allowed',
    'username-taken',
    'would-lock-you-out',
    'conflict',
    'changed-meanwhile',
    'too-large',
    'unsupported-media-type',
    'host-not-allowed',
    'too-many-requests',
    'queue-full',
    'internal',
    'unavailable',
  ])
  .meta({ id: 'ProblemCode' });

/** Every error of /api/v1: application/problem+json (RFC 9457 §3). */
export const Problem = z
  .object({
    type: z.string().meta({ description: '`about:blank`: the status and `code` say which problem it is.' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: ProblemCode,
    detail: z.string().optional(),
    /** Which part of the request is at fault: `body.remarks`, `query.limit`. */
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });

/** What an API token may be allowed to do. The operator (console or Basic) may do everything. */
export const Scope = z
  .enum([
    'accounts:read',
    'accounts:write',
    /** Beside accounts:write: which egress class an account is in, that is where it may go. */
    'egress:write',
    'sessions:read',
    'sessions:write',
    'heartbeats:read',
    'agents:read',
    'agents:write',
    'settings:read',
    'settings:write',
    'audit:read',
  ])
  .meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

/**
 * Who may call a route: `public` (whitelist only), `any` (whoever is signed in, tokens too),
 * `operator` (console session or Basic, never a token), or the scope a token needs.
 */
export type Access = 'public' | 'any' | 'operator' | Scope;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RouteRequest {
  /** Values between braces in the path. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A JSON body, or, with `raw`, the media types read as they come. */
  readonly body?: z.ZodType;
  readonly raw?: readonly string[];
}

export interface RouteResponse {
  readonly description: string;
  /** JSON unless `contentType` says otherwise; without a schema there is no body. */
  readonly schema?: z.ZodType;
  readonly contentType?: string;
}

export interface Route {
  readonly method: Method;
  /** `/api/v1/accounts/{id}`: OpenAPI's form. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  /** The answer carries an `ETag`; on a change, `If-Match` is honoured and a mismatch is 412. */
  readonly etag?: boolean;
  readonly request: RouteRequest;
  /** Success statuses only; every failure is a Problem. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** The failures worth naming; 400, 401, 403 and 500 go without saying. */
  readonly problems?: readonly number[];
}

/** Keeps a route's own types while checking its form. */
export function route<const R extends Route>(definition: R): R {
  return definition;
}

export const IdParams = z.object({ id: Guid });

/** How far back a chart looks, and with it how fine its steps are. */
export const Range = z.enum(['hour', 'day', 'month']).meta({
  id: 'Range',
  description:
    'hour: the last 60 minutes in steps of 1 minute; day: 24 hours in steps of 10 minutes; month: 30 days in steps of 6 hours.',
});
