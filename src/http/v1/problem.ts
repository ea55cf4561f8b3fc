// Failures of /api/v1 as RFC 9457 problems. One table maps each code to its status and title.
import type { Context } from 'koa';
import { z } from 'zod';
import { type FieldCode, FieldError, type FieldFault, type FieldValues, fieldError } from './field-errors.js';
import { ProblemReason } from './problem-reasons.js';

/** Codes for programs. The texts are for people and may change. */
export const ProblemCode = z
  .enum([
    'bad-request',
    'validation',
    'signed-out',
    'wrong-credentials',
    'totp-required',
    'forbidden',
    'wrong-scope',
    'wrong-role',
    'cross-site',
    'not-found',
    'method-not-allowed',
    'username-taken',
    'address-taken',
    'over-budget',
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
export type ProblemCode = z.infer<typeof ProblemCode>;

/** Every error of /api/v1: application/problem+json (RFC 9457 §3). */
export const Problem = z
  .object({
    type: z.string().meta({ description: '`about:blank`: the status and `code` say which problem it is.' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: ProblemCode,
    detail: z.string().optional(),
    /** The detail as a code, where it has one. */
    reason: ProblemReason.optional(),
    /** The fields of the request that are wrong: `body.remarks`, `query.limit`. */
    errors: z.array(FieldError).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });

/** A failure, as a value. */
export interface ProblemAnswer {
  readonly problem: ProblemCode;
  readonly detail?: string;
  readonly reason?: z.infer<typeof ProblemReason>;
  readonly errors?: readonly FieldFault[];
  /** Whole seconds for `Retry-After`. */
  readonly retryAfterS?: number;
}

const PROBLEMS: Readonly<Record<ProblemCode, { status: number; title: string }>> = {
  'bad-request': { status: 400, title: 'Bad Request' },
  validation: { status: 400, title: 'Bad Request' },
  'signed-out': { status: 401, title: 'Unauthorized' },
  'wrong-credentials': { status: 401, title: 'Unauthorized' },
  'totp-required': { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  'wrong-scope': { status: 403, title: 'Forbidden' },
  'wrong-role': { status: 403, title: 'Forbidden' },
  'cross-site': { status: 403, title: 'Forbidden' },
  'not-found': { status: 404, title: 'Not Found' },
  'method-not-allowed': { status: 405, title: 'Method Not Allowed' },
  'username-taken': { status: 409, title: 'Conflict' },
  'address-taken': { status: 409, title: 'Conflict' },
  'over-budget': { status: 409, title: 'Conflict' },
  'would-lock-you-out': { status: 409, title: 'Conflict' },
  conflict: { status: 409, title: 'Conflict' },
  'changed-meanwhile': { status: 412, title: 'Precondition Failed' },
  'too-large': { status: 413, title: 'Content Too Large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported Media Type' },
  'host-not-allowed': { status: 421, title: 'Misdirected Request' },
  'too-many-requests': { status: 429, title: 'Too Many Requests' },
  'queue-full': { status: 429, title: 'Too Many Requests' },
  internal: { status: 500, title: 'Internal Server Error' },
  unavailable: { status: 503, title: 'Service Unavailable' },
};

/** `Retry-After` of problems that are temporary, in seconds. */
const RETRY_AFTER_S: Readonly<Record<number, number>> = { 429: 5, 503: 10 };

export function sendProblem(ctx: Context, answer: ProblemAnswer): void {
  const { problem: code, detail, reason, errors } = answer;
  const { status, title } = PROBLEMS[code];
  ctx.status = status;
  const wait = answer.retryAfterS ?? RETRY_AFTER_S[status];
  if (wait !== undefined) ctx.set('Retry-After', String(wait));
  // RFC 9110 §15.5.2: a 401 names a scheme. For Basic a browser would open its own dialog.
  if (status === 401) {
    ctx.set(
      'WWW-Authenticate',
      isBrowser(ctx) ? BEARER : `Basic realm="Pulsegate", charset="UTF-8", ${BEARER}`,
    );
  }
  ctx.set('Content-Type', 'application/problem+json; charset=utf-8');
  ctx.body = JSON.stringify({
    type: 'about:blank',
    title,
    status,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(reason === undefined ? {} : { reason }),
    ...(errors === undefined ? {} : { errors }),
  });
}

/** Also uses the User-Agent: browsers omit Sec-Fetch-* over plain HTTP. */
export function isBrowser(ctx: Context): boolean {
  return ctx.get('Sec-Fetch-Site') !== '' || ctx.get('User-Agent').startsWith('Mozilla/');
}

const BEARER = 'Bearer realm="Pulsegate"';

/** The problem of one invalid part of the request. */
export const invalid = (path: string, code: FieldCode, values: FieldValues = {}): ProblemAnswer => ({
  problem: 'validation',
  errors: [fieldError(path, code, values)],
});
