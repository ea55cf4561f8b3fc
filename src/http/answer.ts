// Responses of the admin API: always JSON. One table maps each refusal to its status and text.
import type { Context } from 'koa';
import { because, failure, type ProblemAnswer, sendProblem } from './api/problem.js';

const RETRY_AFTER_S = 5;

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Every refusal. The texts are part of the API: clients compare them. `problem`: what it is under /api/v1, where not a bad request.
 */
export const REFUSALS = {
  'empty-credentials': { status: 400, text: '用户名和密码不能为空' },
  'username-taken': { status: 400, text: '该用户名已存在' },
  'over-budget': { status: 400, text: '额度不足', problem: 'over-budget' },
  'invalid-account-id': { status: 400, text: '无效的账号ID' },
  'empty-account-id': { status: 400, text: '账号ID不能为空' },
  // Update and delete answer 400 for an unknown account; the queries answer 404.
  'account-to-change-not-found': { status: 400, text: '账号不存在' },
  'malformed-request': { status: 400, text: '请求格式错误' },
  'malformed-date': { status: 400, text: '到期时间格式错误' },
  'wrong-credentials': { status: 401, text: '用户名或密码错误', problem: 'wrong-credentials' },
  'missing-username-header': { status: 401, text: '缺少X-Socks5-Username请求头' },
  'not-whitelisted': { status: 403, text: 'IP不在白名单中', problem: 'forbidden' },
  'not-local': { status: 403, text: '仅允许本地或内网访问' },
  'through-own-proxy': { status: 403, text: '禁止通过代理访问管理接口', problem: 'forbidden' },
  'cross-site': { status: 403, text: '禁止跨站请求', problem: 'cross-site' },
  'not-permitted': { status: 403, text: '没有权限' },
  'account-not-found': { status: 404, text: '账号不存在' },
  'user-not-found': { status: 404, text: '用户不存在' },
  'path-not-found': { status: 404, text: '路径不存在', problem: 'not-found' },
  'method-not-allowed': { status: 405, text: '请求方法不允许', problem: 'method-not-allowed' },
  'body-too-large': { status: 413, text: '请求体过大', problem: 'too-large' },
  'unsupported-body': { status: 415, text: '不支持的请求内容类型', problem: 'unsupported-media-type' },
  'host-not-allowed': {
    status: 421,
    text: '主机名未获允许，请在 admin.allowedHosts 中列出',
    problem: 'host-not-allowed',
  },
  'too-many-attempts': { status: 429, text: '失败次数过多，请稍后再试' },
  'server-error': { status: 500, text: '服务器内部错误', problem: 'internal' },
  'too-slow': { status: 503, text: '查询超时', problem: 'unavailable' },
  'database-unavailable': { status: 503, text: '数据库暂不可用', problem: 'unavailable' },
} as const satisfies Readonly<
  Record<string, { status: number; text: string; problem?: ProblemAnswer['problem'] }>
>;

export type RefusalCode = keyof typeof REFUSALS;

/** A refusal as a value. `detail`: plain English in ASCII for debugging a client, without secrets. */
export interface Refusal {
  readonly ok: false;
  readonly code: RefusalCode;
  readonly detail?: string | undefined;
}

export const refusal = (code: RefusalCode, detail?: string): Refusal => ({ ok: false, code, detail });

export function answer(ctx: Context, value: unknown): void {
  ctx.status = 200;
  send(ctx, value);
}

/**
 * Answers with the status and text of `code`. The detail goes into `X-Error-Detail`; a reason is its code, which problems of /api/v1
 * have beside it.
 */
export function refuse(ctx: Context, code: RefusalCode, why?: string | ReturnType<typeof because>): void {
  const { detail, ...reason } = typeof why === 'object' ? why : { detail: why };
  const { status, text, ...known } = REFUSALS[code];
  if (isV1(ctx.path)) return sendProblem(ctx, { problem: 'bad-request', ...known, detail, ...reason });
  ctx.status = status;
  if (detail !== undefined) ctx.set('X-Error-Detail', detail);
  if (status === 503) ctx.set('Retry-After', String(RETRY_AFTER_S));
  // RFC 9110 §15.5.2: a 401 names an accepted scheme.
  if (status === 401) ctx.set('WWW-Authenticate', 'Basic realm="Pulsegate", charset="UTF-8"');
  send(ctx, text);
}

/** Answers 429 to a source with too many failed logins. */
export function refuseAttempts(ctx: Context, retryAfterS: number): void {
  if (isV1(ctx.path)) return sendProblem(ctx, { ...TOO_MANY_ATTEMPTS, retryAfterS });
  ctx.set('Retry-After', String(retryAfterS));
  refuse(ctx, 'too-many-attempts', TOO_MANY_ATTEMPTS.detail);
}

/** Answers 429 to a password that cannot be checked now (`admin.signInChecks`). */
export function refuseBusy(ctx: Context): void {
  const why = because('password-checks-busy');
  if (isV1(ctx.path)) return sendProblem(ctx, { problem: 'too-many-requests', ...why });
  ctx.set('Retry-After', String(RETRY_AFTER_S));
  refuse(ctx, 'too-many-attempts', why.detail);
}

export const TOO_MANY_ATTEMPTS = failure('too-many-requests', 'too-many-attempts');

/** Sends a problem of a route, in the form of its path. */
export function refuseRoute(ctx: Context, answer: ProblemAnswer): void {
  const code = ctx.path.toLowerCase() === WHITELIST_PATH ? OLD_REFUSALS[answer.problem] : undefined;
  if (code === undefined) return sendProblem(ctx, answer);
  const [wrong] = answer.errors ?? [];
  const detail = wrong && `${wrong.path.replace(/^\w+\./, '')} ${wrong.message}`;
  refuse(ctx, code, asciiOf(detail ?? answer.detail ?? ''));
}

/** The problems of a request that cannot be read, in the account API's form. Scripts did not cause others in its time. */
const OLD_REFUSALS: Partial<Record<ProblemAnswer['problem'], RefusalCode>> = {
  'bad-request': 'malformed-request',
  validation: 'malformed-request',
  'too-large': 'body-too-large',
  'unsupported-media-type': 'unsupported-body',
};

const V1 = '/api/v1/';
/** Older than the rest of /api/v1: scripts expect refusals in the account API's form. */
const WHITELIST_PATH = '/api/v1/settings/whitelist';

/** Returns whether refusals on this path are RFC 9457 problems. */
export function isV1(path: string): boolean {
  const folded = path.toLowerCase();
  return folded.startsWith(V1) && folded !== WHITELIST_PATH;
}

/** Returns `text` as shortened JSON in printable ASCII. An error detail may quote a request only in this form. */
export function quoted(text: string): string {
  return asciiOf(
    JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}...` : text),
  );
}
const MAX_QUOTED_LENGTH = 60;

const asciiOf = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function send(ctx: Context, value: unknown): void {
  ctx.res.setHeader('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify(value);
}
