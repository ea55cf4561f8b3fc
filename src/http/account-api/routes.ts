// The six endpoints of the account API: five that need the credentials of the administrator or an operator, and GetCurrentUser for
// local clients. Paths are case-insensitive.
import type Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import { isExpired } from '../../core/accounts/account.js';
import type { AddRefusal } from '../../core/accounts/account-input.js';
import type { AccountView } from '../../core/accounts/account-query.js';
import type { Accounts, PatchRefusal } from '../../core/accounts/accounts.js';
import { inCidr, parseCidr, parseIp } from '../../core/addresses/ip.js';
import { decoded } from '../../core/text.js';
import type { Clock } from '../../core/time/clock.js';
import { formatWireDate } from '../../core/time/wire-date.js';
import { answer, type RefusalCode, refuse } from '../answer.js';
import { callerProblem } from '../api/serve.js';
import { type AdminState, accountsFor, actorOf, type LostAccess } from '../caller.js';
import type { ReadJsonObject } from '../request.js';
import { headerValues } from '../request.js';
import type { Services } from '../services.js';
import { parseAccountIdQuery, parseChangedAccount, parseNewAccount } from './parse.js';

type Context = ParameterizedContext<AdminState>;

export function accountRoutes(
  router: Router<AdminState>,
  { accounts, lostAccess }: Services,
  readJsonObject: ReadJsonObject,
): void {
  const accountsOf = (ctx: Context): Accounts => accountsFor(accounts, ctx.state.caller);

  router.get('/ProxyAccount/GetProxyAccountList', needs('accounts:read'), (ctx) =>
    answer(ctx, accountsOf(ctx).list().map(presentAccount)),
  );

  router.get('/ProxyAccount/GetProxyAccountByID', needs('accounts:read'), (ctx) => {
    const id = parseAccountIdQuery(ctx.querystring);
    if (!id.ok) return refuse(ctx, id.code, id.detail);
    const found = accountsOf(ctx).get(id.value);
    if (!found) return refuse(ctx, 'account-not-found');
    answer(ctx, presentAccount(found));
  });

  router.post('/ProxyAccount/AddProxyAccount', needs('accounts:write'), async (ctx) => {
    const body = await readJsonObject(ctx);
    if (refuseFormer(ctx, lostAccess)) return;
    if (!body.ok) return refuse(ctx, body.code, body.detail);
    const input = parseNewAccount(body.fields);
    if (!input.ok) return refuse(ctx, input.code, input.detail);
    const added = await accountsOf(ctx).add(input.value, actorOf(ctx.state.caller));
    if (!added.ok) return refuse(ctx, REFUSALS[added.reason] ?? 'malformed-request');
    answer(ctx, '添加账号成功');
  });

  router.post('/ProxyAccount/UpdateProxyAccount', needs('accounts:write'), async (ctx) => {
    const body = await readJsonObject(ctx);
    if (refuseFormer(ctx, lostAccess)) return;
    if (!body.ok) return refuse(ctx, body.code, body.detail);
    const input = parseChangedAccount(body.fields);
    if (!input.ok) return refuse(ctx, input.code, input.detail);
    const { id, changes } = input.value;
    const updated = await accountsOf(ctx).patch(id, () => changes, actorOf(ctx.state.caller));
    if (!updated.ok) return refuse(ctx, REFUSALS[updated.reason] ?? 'malformed-request');
    answer(ctx, '更新账号成功');
  });

  // The endpoint takes no body and ignores one.
  router.post('/ProxyAccount/DeleteProxyAccount', needs('accounts:write'), async (ctx) => {
    const id = parseAccountIdQuery(ctx.querystring);
    if (!id.ok) return refuse(ctx, id.code, id.detail);
    const removed = await accountsOf(ctx).remove(id.value, actorOf(ctx.state.caller));
    if (!removed.ok) return refuse(ctx, 'account-to-change-not-found');
    answer(ctx, '删除账号成功');
  });
}

// Exactly the ranges of the specification. ::1 is not among them, so a local client uses 127.0.0.1.
const LOCAL_RANGES = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10']
  .map(parseCidr)
  .filter((range) => range !== null);

/** Paths of the route below. Other requests skip its router, to save the lookup. */
export const CURRENT_USER_PATH = /^\/ProxyAccount\/GetCurrentUser\/?$/i;

export function currentUserRoute(
  router: Router<AdminState>,
  { accounts, now }: { accounts: Accounts; now: Clock },
): void {
  router.get('/ProxyAccount/GetCurrentUser', (ctx) => {
    const { client, isForwarded } = ctx.state;
    if (isForwarded || !isLocal(client)) return refuse(ctx, 'not-local');
    const names = headerValues(ctx.req, 'x-socks5-username');
    if (names.length > 1)
      return refuse(ctx, 'malformed-request', 'X-Socks5-Username is given more than once');
    const [name = ''] = names;
    if (name === '') return refuse(ctx, 'missing-username-header');
    // Node decodes header bytes as Latin-1 (RFC 9110 §5.5 leaves their meaning open). User names are UTF-8.
    const username = decoded(Buffer.from(name, 'latin1'));
    const found = username === null ? null : accounts.getByUsername(username);
    if (!found) return refuse(ctx, 'user-not-found');
    answer(ctx, presentCurrentUser(found, now()));
  });
}

function isLocal(client: string): boolean {
  const ip = parseIp(client);
  return ip !== null && LOCAL_RANGES.some((range) => inCidr(ip, range));
}

/** The Account object of GetProxyAccountList and GetProxyAccountByID. */
function presentAccount({ account, dataCount, latestGameId }: AccountView) {
  return {
    AID: account.id,
    Username: account.username,
    IsEnabled: account.isEnabled,
    Remarks: account.remarks,
    CreatedAt: formatWireDate(account.createdAt),
    LastLoginAt: dateOrNull(account.lastLoginAt),
    ExpiresAt: dateOrNull(account.expiresAt),
    DataCount: dataCount,
    LatestGameId: latestGameId,
  };
}

/** The current user view of GetCurrentUser: no AID, no Remarks. `now` in milliseconds since the epoch. */
function presentCurrentUser({ account, dataCount, latestGameId }: AccountView, now: number) {
  return {
    Username: account.username,
    IsEnabled: account.isEnabled,
    CreatedAt: formatWireDate(account.createdAt),
    LastLoginAt: dateOrNull(account.lastLoginAt),
    ExpiresAt: dateOrNull(account.expiresAt),
    IsExpired: isExpired(account, now),
    DataCount: dataCount,
    LatestGameId: latestGameId,
  };
}

const dateOrNull = (ms: number | null): string | null => (ms === null ? null : formatWireDate(ms));

/** Requires a scope, as the routes of /api/v1 do. */
export const needs =
  (scope: 'accounts:read' | 'accounts:write'): Middleware<AdminState> =>
  (ctx, next) =>
    callerProblem(ctx.state.caller, scope) ? refuse(ctx, 'not-permitted') : next();

/** Answers a caller who lost its rights while it sent the body; false: it still has them. */
export function refuseFormer(ctx: ParameterizedContext<AdminState>, lostAccess: LostAccess): boolean {
  const refused = ctx.state.caller && lostAccess(ctx.state.caller);
  if (!refused) return false;
  refuse(ctx, refused.problem === 'signed-out' ? 'wrong-credentials' : 'not-permitted');
  return true;
}

export const REFUSALS: Partial<Record<AddRefusal | PatchRefusal, RefusalCode>> = {
  'empty-credentials': 'empty-credentials',
  'username-taken': 'username-taken',
  'invalid-expiry': 'malformed-date',
  'not-found': 'account-to-change-not-found',
};
