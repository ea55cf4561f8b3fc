// Serves subscriptions at `/sub/<token>`, for client programs and as the player's page, and addresses of earlier versions: pages at
// `/player/<token>`, PAC files at `/pac/<token>.pac`. The token is the only credential. This module refuses too frequent requests and
// wrong tokens before any route runs.
import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import {
  PLAYER_TOKEN,
  type SubscriptionSecrets,
  secretsOf,
} from '../../core/accounts/player/subscription.js';
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import { type Clock, HOUR_MS, MINUTE_MS } from '../../core/time/clock.js';
import { refuse, TOO_MANY_ATTEMPTS } from '../answer.js';
import { sendProblem } from '../api/problem.js';
import { serveRoutes } from '../api/serve.js';
import { type Asset, listAssets, sendAsset, sendNotBuilt } from '../assets.js';
import type { AdminState } from '../caller.js';
import { hangUp } from '../guards/authenticate.js';
import { otherMethods } from '../guards/failures.js';
import type { ReadJsonObject } from '../request.js';
import type { Services } from '../services.js';
import { playerRoutes } from './routes.js';
import { sendPac, sendToProgram } from './subscription.js';

export interface PlayerOptions {
  readonly playerFolder: string;
  /** The file of `admin.playerPage.picture`. */
  readonly playerPicture?: Asset | null;
  /** Number of sources whose requests are counted. */
  readonly maxSources: number;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly readJsonObject: ReadJsonObject;
  readonly monotonicNow: Clock;
}

const SUBSCRIPTION = new RegExp(`^/sub/(${PLAYER_TOKEN})(/.*)?$`);
const FORMER_PAGE = new RegExp(`^/player/(${PLAYER_TOKEN})(/.*)?$`);
const FORMER_PAC = new RegExp(`^/pac/(${PLAYER_TOKEN})\\.pac$`);
const ASSETS = '/player/assets/';

/** Returns whether these routes answer a path. */
export function isPlayerPath({ enabled, pac }: Services['playerPage'], path: string): boolean {
  return (enabled && /^\/(sub|player)(\/|$)/.test(path)) || (pac && /^\/pac(\/|$)/.test(path));
}

/** What a path gives access to. `rest`: the path below it. */
interface Addressed {
  readonly kind: 'subscription' | 'page' | 'pac';
  readonly token: string;
  readonly rest: string;
}

function addressedBy(path: string): Addressed | null {
  const patterns = [
    ['subscription', SUBSCRIPTION],
    ['page', FORMER_PAGE],
    ['pac', FORMER_PAC],
  ] as const;
  for (const [kind, pattern] of patterns) {
    const [, token, rest = ''] = pattern.exec(path) ?? [];
    if (token !== undefined) return { kind, token, rest };
  }
  return null;
}

/** Answers every path below /sub, /player and /pac. Other paths go on. */
export function servePlayers(services: Services, options: PlayerOptions): Middleware<AdminState> {
  const { playerAttempts: attempts, playerLinks, accounts, playerPage, log } = services;
  const { maxSources, isTrustedProxy, readJsonObject, monotonicNow: now } = options;
  const files = listAssets(options.playerFolder);
  const page = files.get('/index.html');
  const picture = options.playerPicture;
  const limitOf = (maxFailures: number, windowMs: number) =>
    createAttemptLimit({ maxFailures, windowMs, maxSources, now });
  const requests = limitOf(playerPage.maxRequestsPerMinute, MINUTE_MS);
  const changes = limitOf(playerPage.maxChangesPerHour, HOUR_MS);
  const router = new Router<AdminState>();
  router.get('/sub/:token', (ctx) => {
    if (!page) return sendNotBuilt(ctx);
    sendAsset(ctx, page);
    ctx.set('Cache-Control', 'no-store');
  });
  if (picture) router.get('/sub/:token/picture', (ctx) => sendAsset(ctx, picture));
  const readers = {
    readJsonObject,
    readBulkJsonObject: readJsonObject,
    lostAccess: () => null,
    isConfirmed: async () => true,
    // Programs that pass links on add parameters to them.
    unknownFields: 'ignored',
  } as const;
  const forRoutes = { ...services, isTrustedProxy, countChange: (id: string) => changes.attempt(id) };
  serveRoutes(router, playerRoutes, () => forRoutes, readers);
  const routed = router.routes();
  const otherwise = otherMethods();

  const accountIdOf = (kind: Addressed['kind'], token: string, secrets: SubscriptionSecrets | null) =>
    secrets ? services.findByLink(secrets.hash) : playerLinks.find(kind === 'pac' ? 'pac' : 'page', token);

  return (ctx, next) => (isPlayerPath(playerPage, ctx.path) ? answer(ctx) : next());

  async function answer(ctx: ParameterizedContext<AdminState>): Promise<unknown> {
    ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' });
    const { client } = ctx.state;
    const waitMs = requests.attempt(client);
    if (waitMs !== null) return sendProblem(ctx, { ...TOO_OFTEN, retryAfterS: Math.ceil(waitMs / 1000) });
    // Assets are the same for every account and contain no secret.
    const asset = ctx.path.startsWith(ASSETS) ? files.get(ctx.path.slice('/player'.length)) : undefined;
    if (asset && (ctx.method === 'GET' || ctx.method === 'HEAD')) return sendAsset(ctx, asset);
    const addressed = addressedBy(ctx.path);
    return addressed === null ? refuseUnknown(ctx) : answerTo(ctx, addressed);
  }

  async function answerTo(ctx: ParameterizedContext<AdminState>, addressed: Addressed): Promise<unknown> {
    const { client } = ctx.state;
    const { kind, token, rest } = addressed;
    const secrets = kind === 'subscription' ? secretsOf(token) : null;
    // First the token, then the limit: many players of one network share an address, and no number of guesses finds 144 bits.
    const id = await accountIdOf(kind, token, secrets);
    const account = id === null ? undefined : accounts.get(id)?.account;
    if (!account) {
      const waitS = attempts.begin(client);
      if (waitS !== null) return sendProblem(ctx, { ...TOO_MANY_ATTEMPTS, retryAfterS: waitS });
      log.warn({ client }, 'player link refused');
      return refuseUnknown(ctx);
    }
    ctx.state.player = account.id;
    if (kind === 'pac') return sendPac(ctx, services);
    const link = secrets && { token, password: secrets.password };
    ctx.state.subscription = link;
    const isForAll = rest === '' && (ctx.method === 'GET' || ctx.method === 'HEAD');
    if (link && isForAll && (await sendToProgram(ctx, services, account, link))) return;
    // The routes are those of subscriptions.
    ctx.path = `/sub/${token}${rest}`;
    await routed(ctx as Parameters<typeof routed>[0], () => otherwise(ctx, async () => refuseUnknown(ctx)));
  }

  /** Answers any unknown path and wrong token, after a random delay that reveals nothing. */
  async function refuseUnknown(ctx: ParameterizedContext<AdminState>): Promise<void> {
    if (attempts.isFull(ctx.state.client)) return hangUp(ctx);
    if ((await attempts.delay(ctx.state.client)) === 'closed') return hangUp(ctx);
    refuse(ctx, 'path-not-found');
  }
}

const TOO_OFTEN = {
  problem: 'too-many-requests',
  detail: 'too many requests from this address (admin.playerPage.maxRequestsPerMinute)',
} as const;
