// /account, the account form of CCProxy: GET lists the accounts, POST creates, changes or deletes one. Off by default
// (`admin.accountForm`). The guards are those of the account API.
import type Router from '@koa/router';
import type { Account } from '../../core/accounts/account.js';
import type { Accounts } from '../../core/accounts/accounts.js';
import { shownIn } from '../../core/time/time-zone.js';
import { formatWireDate, toWireDate } from '../../core/time/wire-date.js';
import { needs, REFUSALS, refuseFormer } from '../account-api/routes.js';
import { refuse } from '../answer.js';
import { type AdminState, accountsFor, actorOf } from '../caller.js';
import { createBytesReader } from '../request.js';
import type { Services } from '../services.js';
import { type FormAction, parseForm } from './form.js';

type Done = { readonly ok: true } | { readonly ok: false; readonly reason: keyof typeof REFUSALS };

export function accountFormRoutes(
  router: Router<AdminState>,
  { accounts, timeZone: zone, lostAccess }: Services,
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
    if (refuseFormer(ctx, lostAccess)) return;
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

/** Shown for an account that never expires: panels compare it with the present time, whether or not it counts. */
const NEVER = ['2037-12-31', '23:59:59'] as const;

/** @param zone IANA time zone of the dates */
function accountsPage(accounts: Iterable<Account>, zone: string): string {
  const lines: string[] = [];
  for (const account of accounts) {
    const { limits } = account;
    const [date, time] = account.expiresAt === null ? NEVER : localTime(account.expiresAt, zone);
    lines.push(
      text('username', account.username),
      // The daemon has only its hash.
      text('password', ''),
      box('enable', account.isEnabled),
      box('usepassword', true),
      text('disabledate', date),
      text('disabletime', time),
      box('autodisable', account.expiresAt !== null),
      text('connection', String(limits.maxSessions ?? -1)),
      text('bandwidth', `${limits.bytesPerSecondUp ?? -1}/${limits.bytesPerSecondDown ?? -1}`),
    );
  }
  const title = '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Pulsegate</title></head><body>';
  return `${title}\n<form>\n${lines.join('\n')}\n</form>\n</body></html>\n`;
}

const text = (name: string, value: string): string =>
  `<input type="text" name="${name}"  value="${escaped(value)}">`;

const box = (name: string, isTicked: boolean): string =>
  `<input type="checkbox" name="${name}" value="1"${isTicked ? ' checked' : ''}>`;

/** A time that is in the year 10000 in the zone is shown as the last one of 9999: a date has four digits of a year. */
function localTime(at: number, zone: string): readonly [string, string] {
  const text = formatWireDate(toWireDate(shownIn(zone, at)));
  return [text.slice(0, 10), text.slice(11)];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (value: string): string => value.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
