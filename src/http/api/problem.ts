// Failures of /api/v1 and the player's page as RFC 9457 problems: one table maps each code to its status, one has the texts of the reasons.
import { STATUS_CODES } from 'node:http';
import type { Context } from 'koa';
import { z } from 'zod';
import { STORAGE_PROBLEMS } from '../../core/errors.js';
import { fillText } from '../../core/text.js';
import type { FieldCode, FieldFault, FieldValues } from './schemas.js';
import { component, FieldError, fieldError } from './schemas.js';

/** Braces in a text contain the name of a value. */
export const REASON_TEXTS = {
  'account-changed': 'the account changed after this ETag was read',
  'limits-changed': 'the limits changed after this ETag was read',
  'factor-on': 'the second factor is already on',
  'factor-off': 'the second factor is off',
  'no-new-secret': 'there is no new secret to confirm',
  'run-finished': 'the run is already finished',
  'run-elsewhere': 'another daemon is running it',
  'too-many-tokens': 'the maximum number of tokens is reached',
  'key-reused': 'the idempotency key was used with another request',
  'key-pending':
    'the request with this idempotency key was accepted, and has no answer to repeat: it is in progress, or was interrupted, or its answer was longer than admin.idempotency.maxAnswer; read what it changed before you repeat it with another key',
  'too-many-keys': 'the caller has used admin.idempotency.maxKeys idempotency keys within 24 hours',
  'no-exit': 'there is no such exit',
  'exit-exists': 'there is an exit of this name',
  'exit-fixed': 'the exit is in the configuration (socks.upstreams) and can be changed only there',
  'exit-in-use': 'accounts or plans use the exit, or it is the default one: give them another one first',
  'too-many-exits': 'the maximum number of exits is reached (256)',
  'exit-needs-native':
    'interface, mark and networks need the native engine (socks.engine), which does not run here',
  'exit-needs-net-admin': 'a mark needs the capability CAP_NET_ADMIN: see etc/README.md, Exits',
  'exit-no-interface': 'this machine has no network interface of this name',
  'no-account': 'there is no such account',
  'no-session': 'there is no such live session',
  'no-notice': 'there is no such notice',
  'notice-waits': 'the notice waits for its next attempt',
  'no-receiver': 'there is no such receiver of events',
  'too-many-receivers': 'the maximum number of receivers is reached (events.maxReceivers)',
  'seller-attempts': 'the seller has made as many attempts as it may within an hour (events.sellerPerHour)',
  'no-delivery': 'there is no such delivery',
  'delivery-waits': 'the delivery waits for its next attempt',
  'channel-not-set': 'the channel or the operator’s address in it is not set',
  'wrong-contact-code': 'the code is wrong, has expired, or was replaced by a newer one',
  'no-player-channel': 'the account has no such address, or notices to players are off in this channel',
  'contact-unconfirmed': 'the player has not confirmed this address: send a code first',
  'too-many-messages':
    'this address got a code a few minutes ago, or the seller has sent as many messages as it may (notices.sellerPerHour)',
  'no-token': 'there is no such token',
  'no-operator': 'there is no such operator',
  'no-node': 'there is no such node',
  'no-subscription': 'the account has no link',
  'fixed-session-key': 'the agent has a fixed session key, which differs from this one',
  stopping: 'the daemon is shutting down',
  hashes: 'only the administrator may export password hashes',
  'tokens-may-not': 'tokens may not do this',
  'administrator-only': 'only the administrator may do this',
  'of-all-accounts': 'this covers all accounts; a seller may see only its own accounts',
  'role-changed': 'the role was changed during the request',
  'rights-lost': 'the operator may no longer change accounts',
  'not-own-account': 'a seller may change only its own accounts',
  'owner-gone': 'the new owner of the account does not exist',
  'not-whitelisted': 'the address {address} is not in the whitelist',
  'through-own-proxy': 'the request came through the proxy of this daemon',
  confirm:
    'give the password or a one-time code again: POST /api/v1/session/confirm (admin.session.confirmFor)',
  'cross-site': 'the request came from a page of another site',
  'host-not-allowed': 'the host name is not in admin.allowedHosts',
  'search-too-slow':
    'the search took longer than database.readTimeout; search for three characters or more, or filter',
  'searches-busy': 'other searches took longer than database.readTimeout; try again in a moment',
  ...STORAGE_PROBLEMS,
  'database-away':
    'the database does not answer; a change may or may not have been made: check before you repeat it',
  'name-taken': 'another operator or the administrator has the name',
  'import-type': 'send text/csv, application/json or text/plain',
  importing: 'another import of yours is in progress: wait until it ends',
  'too-many-streams': 'the maximum number of event streams is open',
  'no-player-page': 'the daemon serves no links for players; set admin.playerPage.enabled',
  'too-many-attempts': 'too many failed login attempts from this address (admin.attempts)',
  'password-checks-busy':
    'too many passwords wait for their check (admin.signInChecks); try again in a few seconds',
  'too-many-codes':
    'too many wrong one-time codes of this user (admin.attempts.maxCodeFailures): use a recovery code, or an address of a recent sign-in',
  'query-twice': 'a query parameter is given more than once',
  'audit-days': 'tokens may not shorten the audit log (auditDays)',
  'lacks-scope': 'the token lacks the scope {scope}',
  'role-lacks-scope': 'the role {role} lacks the scope {scope}',
  'own-role-lacks-scope': 'your role lacks the scope {scope}',
  'file-too-large': 'a file may have at most {max} bytes',
  'preview-outdated': 'the preview counted {expected} accounts; there are {now} now',
  'not-listed': 'the list does not contain {address}',
  'no-agent': 'there is no such agent',
  'no-run': 'there is no such run',
  'no-conversation': 'there is no such conversation',
  'backup-busy': 'another backup is in progress',
  'backup-postgres': 'the database is PostgreSQL: back it up with pg_dump',
} as const;

export type ReasonCode = keyof typeof REASON_TEXTS;

const ProblemReason = component('ProblemReason', {
  code: z.enum(Object.keys(REASON_TEXTS) as [ReasonCode, ...ReasonCode[]]),
  /** The values for the braces of the text. */
  values: z.record(z.string(), z.union([z.string(), z.number()])),
});

/** Returns the detail of a problem, as a text and as a code. */
export function because(
  code: ReasonCode,
  values: Readonly<Record<string, string | number>> = {},
): { readonly detail: string; readonly reason: z.infer<typeof ProblemReason> } {
  return { detail: fillText(REASON_TEXTS[code], values), reason: { code, values } };
}

/** The codes of problems and the status of each. */
const STATUSES = {
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
  'key-reused': 422,
  'host-not-allowed': 421,
  'too-many-requests': 429,
  'queue-full': 429,
  internal: 500,
  unavailable: 503,
} as const;

type ProblemCode = keyof typeof STATUSES;

/** Codes for programs. The texts are for people and may change. */
const ProblemCode = z
  .enum(Object.keys(STATUSES) as [ProblemCode, ...ProblemCode[]])
  .meta({ id: 'ProblemCode' });

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
  readonly detail?: string | undefined;
  readonly reason?: z.infer<typeof ProblemReason>;
  readonly errors?: readonly FieldFault[];
  readonly retryAfterS?: number;
}

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
    detail,
    reason,
    errors,
  });
}

/** Also uses the User-Agent: browsers omit Sec-Fetch-* over plain HTTP. */
export const isBrowser = (ctx: Context): boolean =>
  ctx.get('Sec-Fetch-Site') !== '' || ctx.get('User-Agent').startsWith('Mozilla/');

const BEARER = 'Bearer realm="Pulsegate"';

export const failure = (
  problem: ProblemCode,
  code: ReasonCode,
  values: Readonly<Record<string, string | number>> = {},
) => ({ problem, ...because(code, values) });

export const invalid = (path: string, code: FieldCode, values: FieldValues = {}): ProblemAnswer => ({
  problem: 'validation',
  errors: [fieldError(path, code, values)],
});
