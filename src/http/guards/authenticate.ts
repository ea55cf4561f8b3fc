// Authentication: Basic everywhere. Under /api/v1 also the console's cookie and API tokens. A malformed header counts as missing.
import type { Context, Middleware, Next, ParameterizedContext } from 'koa';
import type { ApiTokens } from '../../core/auth/api-tokens.js';
import type { ConsoleSession, ConsoleSessions } from '../../core/auth/console-sessions.js';
import type { Principal, Principals } from '../../core/auth/principals.js';
import type { Log } from '../../core/log.js';
import { decoded, printable } from '../../core/text.js';
import { refuse, refuseAttempts } from '../answer.js';
import { isBrowser, sendProblem } from '../api/problem.js';
import { type AdminState, type Caller, callerOf } from '../caller.js';
import { headerValues } from '../request.js';
import { type AdminAttempts, uncountUnchecked } from './attempts.js';
import { isFromOurPage, refuseCrossSite } from './host.js';

/** The document of /api/v1 contains the cookie's name. */
export const SESSION_COOKIE = 'pulsegate_session';

const UNDER_V1 = /^\/api\/v1\//i;

export interface AuthenticateDeps {
  readonly principals: Pick<Principals, 'recall' | 'verify' | 'settle' | 'get'>;
  readonly consoleSessions: Pick<ConsoleSessions, 'find' | 'read'>;
  readonly apiTokens: Pick<ApiTokens, 'find'>;
  readonly attempts: AdminAttempts;
  readonly log: Pick<Log, 'warn'>;
}

export function authenticate(deps: AuthenticateDeps): Middleware<AdminState> {
  const { principals, consoleSessions, apiTokens, attempts, log } = deps;
  // Not async for authenticated callers, who make nearly every request.
  return (ctx, next) => {
    const { path } = ctx;
    const headers = headerValues(ctx.req, 'authorization');
    // The sign-in request has its credentials in the body, and its handler counts the attempts.
    if (path === '/api/v1/session' && ctx.method === 'POST') return next();

    if (headers.length === 0 && UNDER_V1.test(path)) {
      const cookie = sessionCookie(ctx);
      if (cookie !== null) return byCookie(ctx, cookie, next);
      if (isBrowser(ctx)) return askToSignIn(ctx);
    }
    return byHeader(ctx, headers, next);
  };

  /** A cookie is no guess, so it is not delayed. The console sends its cookie at every start. */
  function byCookie(ctx: ParameterizedContext<AdminState>, cookie: string, next: Next) {
    const session = consoleSessions.find(cookie);
    if (session) return enter(ctx, session, next);
    return principals
      .settle()
      .then(() => consoleSessions.read(cookie))
      .then((opened) => enter(ctx, opened, next));
  }

  /** A browser that opens the document without a session is redirected to the sign-in page. */
  function askToSignIn(ctx: Context): void {
    if (ctx.path === '/api/v1/docs') ctx.redirect('/');
    else sendProblem(ctx, { problem: 'signed-out' });
  }

  function byHeader(ctx: ParameterizedContext<AdminState>, headers: readonly string[], next: Next) {
    const { client } = ctx.state;
    if (attempts.isFull(client)) return hangUp(ctx);
    // Many HTTP clients send credentials only after a 401. That is no failed login, and must not be logged as one:
    // fail2ban would ban them.
    if (headers.length === 0) return refuseLate(ctx);
    // Checks the limit first: above it, credentials are not even compared.
    const waitS = attempts.begin(client);
    if (waitS !== null) return refuseAttempts(ctx, waitS);
    // Reject duplicates: ambiguous which value applies.
    const [header] = headers.length === 1 ? headers : [];
    const given = parseBasic(header);
    if (!given) return decide(ctx, UNDER_V1.test(ctx.path) ? fromToken(header, client) : null, '', next);
    const { username, password } = given;
    const known = principals.recall(username, password);
    if (known) return decide(ctx, callerOfBasic(known, client), username, next);
    return uncountUnchecked(attempts, client, principals.verify(username, password)).then((principal) =>
      decide(ctx, callerOfBasic(principal, client), username, next),
    );
  }

  function decide(
    ctx: ParameterizedContext<AdminState>,
    caller: Caller | null,
    username: string,
    next: Next,
  ) {
    const { client } = ctx.state;
    if (caller) {
      attempts.succeeded(client);
      ctx.state.caller = caller;
      return next();
    }
    // Others of the source may have been refused during the check.
    if (attempts.isFull(client)) return hangUp(ctx);
    log.warn({ client, username: printable(username) }, 'admin login failed');
    return refuseLate(ctx);
  }

  function enter(ctx: ParameterizedContext<AdminState>, session: ConsoleSession | null, next: Next) {
    const principal = session && principals.get(session.operatorId);
    if (!principal) return sendProblem(ctx, { problem: 'signed-out' });
    if (!isFromOurPage(ctx)) return refuseCrossSite(ctx, 'the console session is for its own page');
    const { username: name, hash: key } = session;
    ctx.state.caller = callerOf(principal.operator, null, {
      via: 'console',
      name,
      address: ctx.state.client,
      key,
    });
    return next();
  }

  async function refuseLate(ctx: ParameterizedContext<AdminState>): Promise<void> {
    if ((await attempts.delay(ctx.state.client)) === 'closed') return hangUp(ctx);
    refuse(ctx, 'wrong-credentials');
  }

  function callerOfBasic(principal: Principal | null, address: string): Caller | null {
    if (!principal) return null;
    const { name, operator, secondFactor } = principal;
    // Basic carries no one-time code, so it would bypass an operator's second factor. The administrator's Basic login is for the
    // account API.
    if (operator && secondFactor.isEnabled()) return null;
    return callerOf(operator, null, { via: 'basic', name, address, key: principal.fingerprint() });
  }

  function fromToken(header: string | undefined, address: string): Caller | null {
    const [, secret] = /^bearer +(\S+)$/i.exec(header ?? '') ?? [];
    const token = secret === undefined ? null : apiTokens.find(secret, address);
    const maker = token && principals.get(token.operatorId);
    if (!token || !maker) return null;
    return callerOf(maker.operator, token.scopes, { via: 'token', name: token.name, address, key: token.id });
  }
}

/** The value of our cookie; null when there is none, or more than one. */
function sessionCookie(ctx: Pick<Context, 'req'>): string | null {
  const values = headerValues(ctx.req, 'cookie')
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

export function hangUp(ctx: Context): void {
  ctx.respond = false;
  ctx.req.socket.destroy();
}

// RFC 9110 §11.4: the scheme in any case, then one or more spaces, then the credentials.
const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;
/**
 * Parses `Basic <base64(username:password)>` (RFC 7617 §2, charset UTF-8). The first colon separates the two, so a password may
 * contain colons; either part may be empty. Returns null for a missing header, another scheme, non-canonical base64 (RFC 4648 §4,
 * padding included), invalid UTF-8, or no colon.
 */
export function parseBasic(header: string | undefined) {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  // Node ignores malformed base64. Only canonical text encodes back to itself.
  if (bytes.toString('base64') !== encoded) return null;
  const text = decoded(bytes);
  const colon = text?.indexOf(':') ?? -1;
  if (text === null || colon === -1) return null;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
