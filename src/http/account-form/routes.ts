// /account, the account form of CCProxy: GET lists the accounts, POST creates, changes or deletes one. Off by default
// (`admin.accountForm`). The guards are those of the account API.
import type Router from '@koa/router';
import type { Account } from '../../core/accounts/account.js';
import type { Accounts } from '../../core/accounts/accounts.js';
import { REFUSALS } from '../account-api/refusals.js';
import { needs, refuseFormer } from '../account-api/rights.js';
import { refuse } from '../answer.js';
import { createBytesReader } from '../body-bytes.js';
import { accountsFor, actorOf } from '../caller.js';
import type { Services } from '../services.js';
import type { AdminState } from '../state.js';
import { type FormAction, parseForm } from './form.js';
import { accountsPage } from './page.js';

type Done = { readonly ok: true } | { readonly ok: false; readonly reason: keyof typeof REFUSALS };

export function accountFormRoutes(
  router: Router<AdminState>,
  { accounts, timeZone: zone, refuseNow }: Services,
  maxBodyBytes: number,
): void {
  const readBytes = createBytesReader(maxBodyBytes);

  router.get('/account', needs('accounts:read'), (ctx) => {
    const own = accountsFor(accounts, ctx.state.caller).list();
    ctx.type = 'html';
    // The page has no scripts and no resources, and its forms are for panels only.
    ctx.set('Content-Security-Policy', "default-src 'none'; form-action 'none'; frame-ancestors 'none'");
    ctx.body = accountsPage(
      own.map(({ account }) => account),
      zone,
    );
  });

  router.post('/account', needs('accounts:write'), async (ctx) => {
    const bytes = await readBytes(ctx);
    if (refuseFormer(ctx, refuseNow)) return;
    if (bytes === 'too-large')
      return refuse(ctx, 'body-too-large', `the body may have at most ${maxBodyBytes} bytes`);
    if (bytes === 'cut-short')
      return refuse(ctx, 'malformed-request', 'the body ended before it was complete');
    const form = parseForm(bytes, zone);
    if (!form.ok) return refuse(ctx, form.code, form.detail);
    const done = await run(form.action, accountsFor(accounts, ctx.state.caller), actorOf(ctx.state.caller));
    if (!done.ok) return refuse(ctx, REFUSALS[done.reason] ?? 'malformed-request');
    ctx.type = 'html';
    ctx.body = '<!DOCTYPE html>\n<html><head><title>Pulsegate</title></head><body>OK</body></html>\n';
  });
}

async function run(action: FormAction, accounts: Accounts, by: ReturnType<typeof actorOf>): Promise<Done> {
  if (action.kind === 'add') {
    const { username, password } = action;
    const { isEnabled = false, expiresAt = null, ...more } = action.fields;
    return accounts.add({ username, password, isEnabled, expiresAt, remarks: null, ...more }, by);
  }
  const account: Account | undefined = accounts.getByUsername(action.user)?.account;
  if (!account) return { ok: false, reason: 'not-found' };
  if (action.kind === 'delete') return accounts.remove(account.id, by);
  const { username, password, fields } = action;
  const change = { username, password, ...fields };
  return accounts.patch(account.id, () => change, by);
}
