// What a link answers to client programs: the account's ways to the server in the format of the program, with what it shows of the
// account beside them; and the addresses of the links, and what a player may change there (`admin.playerPage`).
import type { ParameterizedContext } from 'koa';
import type { Config } from '../../config.js';
import { type Account, isExpired, isSuspended, isUntilLifted } from '../../core/accounts/account.js';
import { type Entry, entriesOf } from '../../core/accounts/player/entries.js';
import { pacFile, pacProxies } from '../../core/accounts/player/pac.js';
import { PLAYER_TOKEN } from '../../core/accounts/player/subscription.js';
import {
  formatFor,
  SUBSCRIPTION_FORMATS,
  type SubscriptionFormat,
  subscriptionHeaders,
  subscriptionText,
} from '../../core/accounts/player/subscription-formats.js';
import { isByGuard } from '../../core/accounts/usage/guard.js';
import { mayOwnerUse } from '../../core/exits/exit.js';
import { shownIn } from '../../core/time/time-zone.js';
import { sendProblem } from '../api/problem.js';
import { etagOf } from '../api/route.js';
import type { AdminState } from '../caller.js';
import { isSecure } from '../guards/client.js';
import type { Services } from '../services.js';
import { linkAddressFor } from '../v1/settings/players.js';

type Context = ParameterizedContext<AdminState>;
type Deps = Pick<
  Services,
  'playerPage' | 'publicAddress' | 'socks' | 'reach' | 'exits' | 'usage' | 'pac' | 'now' | 'timeZone'
>;

/** The token of a request, and the password that it makes. */
interface LinkSecrets {
  readonly token: string;
  readonly password: string;
}

const PAGES = ['pac', 'page'] as const;
type Format = SubscriptionFormat | (typeof PAGES)[number];
const FORMATS: readonly Format[] = [...SUBSCRIPTION_FORMATS, ...PAGES];

/** Answers a program in its format. Returns false when a browser asks for the page. */
export async function sendToProgram(
  ctx: Context,
  deps: Deps,
  account: Account,
  link: LinkSecrets,
): Promise<boolean> {
  const offered = FORMATS.filter((each) => each !== 'pac' || deps.playerPage.pac);
  const format = askedFormat(ctx, offered);
  if (format === null)
    sendProblem(ctx, { problem: 'bad-request', detail: `format: one of ${offered.join(', ')}` });
  else if (format === 'pac') await sendPac(ctx, deps);
  else if (format !== 'page') await sendSubscription(ctx, deps, account, format, link);
  return format !== 'page';
}

/** By `?format=`, or by the program's name; null: `?format=` names none. */
function askedFormat(ctx: Context, offered: readonly Format[]): Format | null {
  const { format } = ctx.query;
  ctx.vary('User-Agent');
  return format === undefined
    ? formatFor(ctx.get('User-Agent'))
    : (offered.find((each) => each === format) ?? null);
}

async function sendSubscription(
  ctx: Context,
  deps: Deps,
  account: Account,
  format: SubscriptionFormat,
  { token, password }: LinkSecrets,
): Promise<void> {
  const { title, contact } = deps.playerPage;
  const all = await entriesFor(deps, ctx, { username: account.username, password, owner: account.owner });
  const { quotaBytes: quota } = account.limits;
  const usage = deps.usage.view(account);
  const blocked = blockedName(account, usage.periodBytes, deps.now(), deps.timeZone);
  // Programs show no texts, only names of entries.
  const entries = blocked === null ? all : all.slice(0, 1).map((entry) => ({ ...entry, name: blocked }));
  const { type, extension, text } = subscriptionText(format, entries, title);
  const headers = subscriptionHeaders({
    title,
    // A quota counts both directions.
    up: quota === null ? usage.totalBytesUp : 0,
    down: quota === null ? usage.totalBytesDown : usage.periodBytes,
    quota,
    expiresAt: account.expiresAt,
    fileName: `${title}.${extension}`,
    page: subscriptionUrl(playerOrigin(deps.playerPage, ctx), token),
    supportUrl: supportUrlOf(contact),
  });
  ctx.set({ ...headers, 'Cache-Control': 'private, no-store' });
  ctx.status = 200;
  ctx.set('Content-Type', `${type}; charset=utf-8`);
  ctx.body = text;
}

/** The entries of an account, those with a certificate first. */
export async function entriesFor(
  deps: Pick<Deps, 'publicAddress' | 'socks' | 'reach' | 'exits'>,
  ctx: Context,
  account: Pick<Account, 'username' | 'owner'> & { readonly password: string },
): Promise<readonly Entry[]> {
  const { servers, exitSuffix } = deps.reach;
  const exits = exitSuffix.filter((name) => {
    const exit = deps.exits.byName(name);
    return exit !== null && mayOwnerUse(exit, account.owner);
  });
  const { host, port } = linkAddressFor(deps, ctx.hostname);
  return entriesOf(await servers({ host, port }), account, exits);
}

/** The name of the only entry of an account that cannot be used now; null: it can. In both languages: programs do not tell theirs. */
function blockedName(account: Account, periodBytes: number, now: number, zone: string): string | null {
  const day = (at: number | null): string =>
    at === null ? '' : ` ${new Date(shownIn(zone, at)).toISOString().slice(0, 10)}`;
  const { quotaBytes } = account.limits;
  if (!account.isEnabled) return '已停用 · Disabled';
  if (isSuspended(account, now)) return suspendedName(account, day(account.suspendedUntil));
  if (isExpired(account, now)) return `已过期 · Expired${day(account.expiresAt)}`;
  if (quotaBytes !== null && periodBytes >= quotaBytes) return '流量已用完 · Quota used up';
  return null;
}

/** Longest reason in the name of an entry, in characters: programs cut off what is longer. */
const MAX_REASON = 40;

function suspendedName({ suspendedUntil: until, suspendReason: reason }: Account, day: string): string {
  const isLong = (reason?.length ?? 0) > MAX_REASON;
  const why = reason === null || isLong || isByGuard(reason) ? '' : `: ${reason}`;
  if (until === null || isUntilLifted(until)) return `已暂停 · Suspended${why}`;
  return `已暂停至 · Suspended until${day}${why}`;
}

/** The first address in the operator's contact. */
export const supportUrlOf = (contact: string | null): string | null =>
  /(?:https?:\/\/|mailto:|tg:)[\x21-\x7e]+/.exec(contact ?? '')?.[0] ?? null;

/** Sends the PAC file, which is the same for every account. */
export async function sendPac(ctx: Context, deps: Deps): Promise<void> {
  const proxies = pacProxies(await entriesFor(deps, ctx, { username: '', password: '', owner: '' }));
  const file = pacFile(deps.pac.current(), proxies, linkAddressFor(deps, ctx.hostname).host);
  // `no-cache` lets the browser store the file and revalidate it each time.
  ctx.set({ ETag: etagOf(file), 'Cache-Control': 'private, no-cache' });
  ctx.status = 200;
  ctx.set('Content-Type', 'application/x-ns-proxy-autoconfig');
  ctx.body = file;
  if (ctx.fresh) ctx.status = 304;
}

type PlayerPage = Config['admin']['playerPage'];

/** Returns what a player may change. Only the administrator assigns client addresses, so the page of a seller's account does not. */
export const changeableOf = ({ mayChange }: PlayerPage, { owner }: Account): PlayerPage['mayChange'] =>
  owner === null ? mayChange : mayChange.filter((what) => what !== 'authorizedAddresses');

/** Returns the start of players' addresses. @param ctx the request, whose host names this server when `admin.playerPage.url` is not set */
export function playerOrigin({ url, port }: PlayerPage, ctx: ParameterizedContext<AdminState>): string {
  if (url !== null) return url;
  const host = port === null ? ctx.host : ctx.host.replace(/(:\d+)?$/, `:${port}`);
  return `${isSecure(ctx.req) ? 'https' : 'http'}://${host}`;
}

export const subscriptionUrl = (origin: string, token: string): string => `${origin}/sub/${token}`;

const TOKEN_OF_URL = new RegExp(`/sub/(${PLAYER_TOKEN})$`);

/** The token of such a URL; null: it has none. */
export const tokenOfUrl = (url: string): string | null => TOKEN_OF_URL.exec(url)?.[1] ?? null;
