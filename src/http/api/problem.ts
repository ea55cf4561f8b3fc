// Failures of /api/v1 and the player's page as RFC 9457 problems. One table maps each code to its status.
import { STATUS_CODES } from 'node:http';
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
    'confirmation-required',
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

const STATUSES: Readonly<Record<ProblemCode, number>> = {
  'bad-request': 400,
  validation: 400,
  'signed-out': 401,
  'wrong-credentials': 401,
  'totp-required': 401,
  forbidden: 403,
  'wrong-scope': 403,
  'wrong-role': 403,
  'cross-site': 403,
  'confirmation-required': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'username-taken': 409,
  'address-taken': 409,
  'over-budget': 409,
  'would-lock-you-out': 409,
  conflict: 409,
  'changed-meanwhile': 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  'host-not-allowed': 421,
  'too-many-requests': 429,
  'queue-full': 429,
  internal: 500,
  unavailable: 503,
};

/** The reason phrases; Node has that of 413 from before RFC 9110. */
const TITLES: Readonly<Record<number, string | undefined>> = { ...STATUS_CODES, 413: 'Content Too Large' };

/** `Retry-After` of problems that are temporary, in seconds. */
const RETRY_AFTER_S: Readonly<Record<number, number>> = { 429: 5, 503: 10 };

export function sendProblem(ctx: Context, answer: ProblemAnswer): void {
  const { problem: code, detail, reason, errors } = answer;
  const status = STATUSES[code];
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
    title: TITLES[status],
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
