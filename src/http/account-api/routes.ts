// The five endpoints of the account API that need the credentials of the administrator or an operator. Paths are case-insensitive.
import type Router from '@koa/router';
import type { ParameterizedContext } from 'koa';
import type { Accounts } from '../../core/accounts/accounts.js';
import { answer, refuse } from '../answer.js';
import type { ReadJsonObject } from '../body.js';
import { accountsFor, actorOf } from '../caller.js';
import type { RefuseNow } from '../current-access.js';
import type { AdminState } from '../state.js';
import { parseAccountIdQuery, parseChangedAccount, parseNewAccount } from './parse.js';
import { presentAccount } from './present.js';
import { REFUSALS } from './refusals.js';
import { needs, refuseFormer } from './rights.js';

type Context = ParameterizedContext<AdminState>;

export function accountRoutes(
  router: Router<AdminState>,
  {
    accounts,
    readJsonObject,
    refuseNow,
  }: { accounts: Accounts; readJsonObject: ReadJsonObject; refuseNow: RefuseNow },
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
    if (refuseFormer(ctx, refuseNow)) return;
    if (!body.ok) return refuse(ctx, body.code, body.detail);
    const input = parseNewAccount(body.fields);
    if (!input.ok) return refuse(ctx, input.code, input.detail);
    const added = await accountsOf(ctx).add(input.value, actorOf(ctx.state.caller));
    if (!added.ok) return refuse(ctx, REFUSALS[added.reason] ?? 'malformed-request');
    answer(ctx, '添加账号成功');
  });

  router.post('/ProxyAccount/UpdateProxyAccount', needs('accounts:write'), async (ctx) => {
    const body = await readJsonObject(ctx);
    if (refuseFormer(ctx, refuseNow)) return;
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
