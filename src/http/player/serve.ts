// The player's own page, at `/player/<token>`: the token is the only credential. What is asked too often or with a wrong token is
// refused here, before any route.
import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import { PLAYER_TOKEN, type PlayerLinkKind } from '../../core/accounts/player-links.js';
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import { type Clock, HOUR_MS, MINUTE_MS } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { refuse, TOO_MANY_ATTEMPTS } from '../answer.js';
import { listAssets, sendAsset } from '../assets.js';
import type { ReadJsonObject } from '../body.js';
import type { AdminAttempts } from '../guards/attempts.js';
import { hangUp } from '../guards/authenticate.js';
import { otherMethods } from '../guards/routing.js';
import type { AdminState } from '../state.js';
import { sendProblem } from '../v1/problem.js';
import { serveRoutes } from '../v1/serve.js';
import { playerRoutes } from './routes.js';
import type { PlayerUses } from './status.js';

export interface ServePlayersUses extends Omit<PlayerUses, 'countChange'> {
  /** Folder of the built page. */
  readonly playerFolder: string;
  /** Sources whose requests are counted. */
  readonly maxSources: number;
  readonly attempts: AdminAttempts;
  readonly readJsonObject: ReadJsonObject;
  readonly log: Pick<Log, 'warn'>;
  readonly monotonicNow: Clock;
}

const PAGE = new RegExp(`^/player/(${PLAYER_TOKEN})(/.*)?$`);
const ASSETS = '/player/assets/';

/** Whether these routes answer a path. */
export const isPlayerPath = (path: string): boolean => /^\/player(\/|$)/.test(path);

/** Answers every path below /player, and lets every other one by. */
export function servePlayers(uses: ServePlayersUses): Middleware<AdminState> {
  const { attempts, playerLinks, accounts, readJsonObject, log } = uses;
  const files = listAssets(uses.playerFolder);
  const page = files.get('/index.html');
  const requests = createAttemptLimit({
    maxFailures: uses.playerPage.maxRequestsPerMinute,
    windowMs: MINUTE_MS,
    maxSources: uses.maxSources,
    now: uses.monotonicNow,
  });
  const changes = createAttemptLimit({
    maxFailures: uses.playerPage.maxChangesPerHour,
    windowMs: HOUR_MS,
    maxSources: uses.maxSources,
    now: uses.monotonicNow,
  });
  const router = new Router<AdminState>();
  router.get('/player/:token', (ctx) => {
    if (!page) return refuse(ctx, 'server-error', 'the page is not built: npm run build');
    sendAsset(ctx, page);
    ctx.set('Cache-Control', 'no-store');
  });
  const readers = { readJsonObject, readBulkJsonObject: readJsonObject };
  const forRoutes = { ...uses, countChange: (id: string) => changes.attempt(id) };
  serveRoutes(router, playerRoutes, () => forRoutes, readers);
  const routed = router.routes();
  const otherwise = otherMethods();

  return (ctx, next) => (isPlayerPath(ctx.path) ? answer(ctx) : next());

  async function answer(ctx: ParameterizedContext<AdminState>): Promise<unknown> {
    ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' });
    const { client } = ctx.state;
    const waitMs = requests.attempt(client);
    if (waitMs !== null) return sendProblem(ctx, { ...TOO_OFTEN, retryAfterS: Math.ceil(waitMs / 1000) });
    // The same for every account, and nobody's secret.
    const asset = ctx.path.startsWith(ASSETS) ? files.get(ctx.path.slice('/player'.length)) : undefined;
    if (asset && (ctx.method === 'GET' || ctx.method === 'HEAD')) return sendAsset(ctx, asset);
    const [, token] = PAGE.exec(ctx.path) ?? [];
    if (token === undefined) return refuseUnknown(ctx);
    if (attempts.isFull(client)) return hangUp(ctx);
    const waitS = waitOf(client);
    if (waitS !== null) return sendProblem(ctx, { ...TOO_MANY_ATTEMPTS, retryAfterS: waitS });
    const id = await ownerOf('page', token);
    if (id === null) {
      attempts.begin(client);
      log.warn({ client }, 'player link refused');
      return refuseUnknown(ctx);
    }
    ctx.state.player = id;
    await routed(ctx as Parameters<typeof routed>[0], () => otherwise(ctx, async () => refuseUnknown(ctx)));
  }

  /**
   * The seconds that a source has to wait; null: none. Only wrong tokens are counted, once they are known to be wrong: many
   * players of one network may ask at once, and no burst of guesses finds 144 bits.
   */
  function waitOf(client: string): number | null {
    const waitS = attempts.begin(client);
    if (waitS === null) attempts.succeeded(client);
    return waitS;
  }

  async function ownerOf(kind: PlayerLinkKind, token: string): Promise<string | null> {
    const id = await playerLinks.find(kind, token);
    return id !== null && accounts.get(id) ? id : null;
  }

  /** The answer to any path that there is not, after a time that tells nothing. */
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
