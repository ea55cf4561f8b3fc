// Serves the player page at `/player/<token>`, and PAC files at `/pac/<token>.pac`. The token is the only credential. This module
// refuses too frequent requests and wrong tokens before any route runs.
import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import { pacFile, pacProxies } from '../../core/accounts/player/pac.js';
import { PLAYER_TOKEN, type PlayerLinkKind } from '../../core/accounts/player/player-links.js';
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import { type Clock, HOUR_MS, MINUTE_MS } from '../../core/clock.js';
import { refuse, TOO_MANY_ATTEMPTS } from '../answer.js';
import { etagOf } from '../api/etag.js';
import { sendProblem } from '../api/problem.js';
import { serveRoutes } from '../api/serve.js';
import { listAssets, sendAsset } from '../assets.js';
import type { ReadJsonObject } from '../body.js';
import type { AdminState } from '../caller.js';
import { hangUp } from '../guards/authenticate.js';
import { otherMethods } from '../guards/failures.js';
import type { Services } from '../services.js';
import { linkAddressFor } from '../v1/settings/public-address.js';
import type { PlayerPageSettings } from './page-settings.js';
import { playerRoutes } from './routes.js';

export interface PlayerOptions {
  /** Folder of the built player page. */
  readonly playerFolder: string;
  /** Number of sources whose requests are counted. */
  readonly maxSources: number;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly readJsonObject: ReadJsonObject;
  readonly monotonicNow: Clock;
}

const PAGE = new RegExp(`^/player/(${PLAYER_TOKEN})(/.*)?$`);
const PAC = new RegExp(`^/pac/(${PLAYER_TOKEN})\\.pac$`);
const ASSETS = '/player/assets/';

/** Returns whether these routes answer a path. */
export function isPlayerPath({ enabled, pac }: PlayerPageSettings, path: string): boolean {
  return (enabled && /^\/player(\/|$)/.test(path)) || (pac && /^\/pac(\/|$)/.test(path));
}

/** Answers every path below /player and /pac. Other paths go on. */
export function servePlayers(services: Services, options: PlayerOptions): Middleware<AdminState> {
  const { playerAttempts: attempts, playerLinks, accounts, playerPage, log } = services;
  const { maxSources, isTrustedProxy, readJsonObject, monotonicNow: now } = options;
  const files = listAssets(options.playerFolder);
  const page = files.get('/index.html');
  const requests = createAttemptLimit({
    maxFailures: playerPage.maxRequestsPerMinute,
    windowMs: MINUTE_MS,
    maxSources,
    now,
  });
  const changes = createAttemptLimit({
    maxFailures: playerPage.maxChangesPerHour,
    windowMs: HOUR_MS,
    maxSources,
    now,
  });
  const router = new Router<AdminState>();
  router.get('/player/:token', (ctx) => {
    if (!page) return refuse(ctx, 'server-error', 'the page is not built: npm run build');
    sendAsset(ctx, page);
    ctx.set('Cache-Control', 'no-store');
  });
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

  return (ctx, next) => (isPlayerPath(playerPage, ctx.path) ? answer(ctx) : next());

  async function answer(ctx: ParameterizedContext<AdminState>): Promise<unknown> {
    ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' });
    const { client } = ctx.state;
    const waitMs = requests.attempt(client);
    if (waitMs !== null) return sendProblem(ctx, { ...TOO_OFTEN, retryAfterS: Math.ceil(waitMs / 1000) });
    // Assets are the same for every account and contain no secret.
    const asset = ctx.path.startsWith(ASSETS) ? files.get(ctx.path.slice('/player'.length)) : undefined;
    if (asset && (ctx.method === 'GET' || ctx.method === 'HEAD')) return sendAsset(ctx, asset);
    const kind = ctx.path.startsWith('/pac/') ? 'pac' : 'page';
    const [, token] = (kind === 'pac' ? PAC : PAGE).exec(ctx.path) ?? [];
    return token === undefined ? refuseUnknown(ctx) : answerTo(ctx, kind, token);
  }

  async function answerTo(
    ctx: ParameterizedContext<AdminState>,
    kind: PlayerLinkKind,
    token: string,
  ): Promise<unknown> {
    const { client } = ctx.state;
    // First the token, then the limit: many players of one network share an address, and no number of guesses finds 144 bits.
    const id = await ownerOf(kind, token);
    if (id === null) {
      const waitS = attempts.begin(client);
      if (waitS !== null) return sendProblem(ctx, { ...TOO_MANY_ATTEMPTS, retryAfterS: waitS });
      log.warn({ client }, 'player link refused');
      return refuseUnknown(ctx);
    }
    ctx.state.player = id;
    if (kind === 'pac') return sendPac(ctx);
    await routed(ctx as Parameters<typeof routed>[0], () => otherwise(ctx, async () => refuseUnknown(ctx)));
  }

  async function ownerOf(kind: PlayerLinkKind, token: string): Promise<string | null> {
    const id = await playerLinks.find(kind, token);
    return id !== null && accounts.get(id) ? id : null;
  }

  function sendPac(ctx: ParameterizedContext<AdminState>): void {
    const link = linkAddressFor(services, ctx.hostname);
    const file = pacFile(services.pac.current(), pacProxies(link, services.pacListeners), link.host);
    // `no-cache` lets the browser store the file and revalidate it each time.
    ctx.set({ ETag: etagOf(file), 'Cache-Control': 'private, no-cache' });
    ctx.status = 200;
    ctx.set('Content-Type', 'application/x-ns-proxy-autoconfig');
    ctx.body = file;
    if (ctx.fresh) ctx.status = 304;
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
