// The admin API: the middleware of every request, in order, over one HTTP server per address.
import type { Server } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import type { Accounts } from '../core/accounts/accounts.js';
import type { HandleHook } from '../core/agents/webhooks.js';
import type { AdminCredentials } from '../core/auth/admin-credentials.js';
import type { Penalties } from '../core/auth/penalties.js';
import type { WhitelistSetting } from '../core/auth/whitelist-setting.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { CURRENT_USER_PATH, currentUserRoute } from './account-api/current-user.js';
import { accountRoutes } from './account-api/routes.js';
import { type AccountFormDeps, accountFormRoutes } from './account-form/routes.js';
import { createBodyReader } from './body.js';
import { createClientReader } from './client.js';
import { compressJson } from './compression.js';
import { serveConsole } from './console.js';
import { createControlServer } from './control.js';
import { createRefuseNow } from './current-access.js';
import { type AttemptOptions, createAdminAttempts } from './guards/attempts.js';
import { authenticate } from './guards/authenticate.js';
import { readClient } from './guards/client.js';
import { answerFailures } from './guards/failures.js';
import { hostGuard } from './guards/host.js';
import { type IsOwnOutbound, refuseOwnOutbound } from './guards/own-outbound.js';
import { otherMethods, unknownPath } from './guards/routing.js';
import { sameOriginGuard } from './guards/same-origin.js';
import { whitelistGuard } from './guards/whitelist.js';
import { type HealthDeps, healthRoutes } from './health.js';
import { hookRoutes } from './hooks-routes.js';
import { createHttpServers, type HttpServersOptions } from './http.js';
import { type MetricsDeps, metricsRoute } from './metrics.js';
import { isPlayerPath, servePlayers } from './player/serve.js';
import type { AdminState } from './state.js';
import type { Tls } from './tls.js';
import type { RunDeps } from './v1/agents/shared.js';
import { type ApiDeps, serveApi } from './v1/api.js';

export interface AdminServerDeps extends HttpServersOptions {
  readonly accounts: Accounts;
  readonly whitelist: WhitelistSetting;
  readonly credentials: AdminCredentials;
  /** What the handlers of /api/v1, and with them the console, need. */
  readonly api: Omit<
    ApiDeps,
    | 'accounts'
    | 'agents'
    | 'attempts'
    | 'codeAttempts'
    | 'credentials'
    | 'log'
    | 'now'
    | 'readJsonObject'
    | 'refuseNow'
    | 'whitelist'
  >;
  readonly health: HealthDeps;
  readonly metrics: Omit<MetricsDeps, 'certificateExpiresAt' | 'attempts'>;
  /** Folder of the built console. */
  readonly consoleFolder: string;
  /** Folder of the built player page. */
  readonly playerFolder: string;
  /** Answers /hooks. */
  readonly handleHook: HandleHook;
  /** Whether an address is on the list of webhook callers. */
  readonly mayCallHooks: (address: string) => boolean;
  readonly agents: RunDeps;
  /** Processes what the workers have reported so far. Returns a promise only when it has to ask a worker. */
  readonly settle: () => void | Promise<void>;
  /** Calls the handler of a request, whose `isAbandoned` becomes true when the client goes before the handler is done. */
  readonly handleFor: <Result>(request: { isAbandoned: boolean }, handle: () => Result) => Result;
  readonly isOwnOutbound: IsOwnOutbound;
  /** Addresses and blocks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Host names that requests may use, besides IP literals, `localhost` and the names of the certificate. */
  readonly allowedHosts: readonly string[];
  /** The account form of CCProxy; null: it is not served. */
  readonly accountForm: Pick<AccountFormDeps, 'zone'> | null;
  /** Size of the largest request body. */
  readonly maxBodyBytes: number;
  /** Limits of failed logins, of every kind. */
  readonly attempts: AttemptOptions;
  readonly penalties: Pick<Penalties, 'of'>;
  /** Most delayed answers to refused logins of one source at once. */
  readonly maxDelayedPerSource: number;
  readonly log: Log;
  readonly now: Clock;
  readonly monotonicNow: Clock;
  /** In [0, 1): varies the delay after a refused login. */
  readonly random: () => number;
}

export interface AdminServer {
  /** Creates an HTTP server of the admin API, one per address. The caller lets it listen. */
  createHttpServer(): Server;
  /** Creates an HTTP server that answers /api/v1 without credentials to every process that may open its socket. */
  createControlServer(): Server;
  /** Sets the certificate of new connections, on servers with TLS. */
  setTls(tls: Tls): void;
  /** Every registered route of /api/v1, as `GET /api/v1/accounts/{id}`: a test compares the OpenAPI document with it. */
  readonly v1Routes: readonly string[];
  /** Stops accepting requests, answers those in progress, closes event streams and delayed login refusals, and then ends. */
  close(): Promise<void>;
}

/** HSTS for one day and without subdomains. It applies to every port of the host name, and other services may use those. */
const TRANSPORT_SECURITY = 'max-age=86400';

/** This path is not behind the whitelist, which otherwise runs before the check of the host. */
const METRICS_PATH = '/metrics';

/** Throws StartError when a trusted proxy is neither an address nor a block. */
export function createAdminServer(deps: AdminServerDeps): AdminServer {
  const { accounts, whitelist, log, now } = deps;
  let { tls } = deps;
  const clients = createClientReader(deps.trustedProxies);
  const checkHost = hostGuard({
    allowed: deps.allowedHosts,
    isCertified: (name) => name !== '' && tls?.certificate.checkHost(name) !== undefined,
    log,
  });
  const readJsonObject = createBodyReader(deps.maxBodyBytes);
  const attemptOptions = {
    ...deps.attempts,
    maxDelayedPerSource: deps.maxDelayedPerSource,
    random: deps.random,
    now: deps.monotonicNow,
    log,
  };
  const attempts = createAdminAttempts({ ...attemptOptions, penalties: deps.penalties.of('admin') });
  const codeAttempts = createAdminAttempts({
    ...attemptOptions,
    maxFailuresPerSource: deps.attempts.maxCodeFailures,
    failureWindowMs: deps.attempts.codeFailureWindowMs,
    refused: 'one-time codes refused: too many wrong ones',
    counted: 'username',
    penalties: deps.penalties.of('admin-code'),
  });
  const playerAttempts = createAdminAttempts({
    ...attemptOptions,
    refused: 'player links refused: too many failures',
    penalties: deps.penalties.of('player-link'),
  });

  const open = new Router<AdminState>();
  currentUserRoute(open, { accounts, now });

  const refuseNow = createRefuseNow({ ...deps.api, whitelist });
  // A router of its own, before /api/v1: its lookup cost does not grow with the routes of /api/v1.
  const accountApi = new Router<AdminState>();
  accountRoutes(accountApi, { accounts, readJsonObject, refuseNow });
  const { accountForm, maxBodyBytes } = deps;
  if (accountForm) accountFormRoutes(accountApi, { ...accountForm, accounts, maxBodyBytes, refuseNow });
  const v1 = new Router<AdminState>();
  const events = serveApi(v1, {
    ...deps.api,
    accounts,
    agents: deps.agents,
    attempts,
    codeAttempts,
    credentials: deps.credentials,
    log,
    now,
    readJsonObject,
    refuseNow,
    whitelist,
  });

  const { playerPage } = deps.api;
  const players =
    playerPage.enabled || playerPage.pac
      ? servePlayers({
          ...deps,
          ...deps.api,
          attempts: playerAttempts,
          readJsonObject,
          isTrustedProxy: clients.isTrusted,
          socks: () => deps.api.about().socks,
          maxSources: deps.attempts.maxSources,
        })
      : null;

  const app = new Koa<AdminState>();
  app.use(answerFailures(log));
  app.use(refuseOwnOutbound(deps.isOwnOutbound));
  // Every request sees all that players have done before it.
  app.use((_ctx, next) => deps.settle()?.then(next) ?? next());
  app.use(readClient(clients, log));
  app.use((ctx, next) => {
    // Caches must not store account data, and browsers must not guess another content type.
    ctx.res.setHeader('Cache-Control', 'no-store');
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    if (tls) ctx.res.setHeader('Strict-Transport-Security', TRANSPORT_SECURITY);
    return next();
  });
  app.use(healthRoutes(deps.health));
  // Webhooks need their token, which no page has. They need no check of the host.
  app.use(hookRoutes(deps.handleHook));
  app.use((ctx, next) => (ctx.path === METRICS_PATH ? checkHost(ctx, next) : next()));
  app.use(metricsRoute({ ...deps.metrics, attempts, certificateExpiresAt: () => tls?.expiresAt ?? null }));
  // Like webhooks, these paths need their token and no check of the host.
  if (players && playerPage.outsideWhitelist) app.use(players);
  app.use(whitelistGuard(whitelist.allows));
  app.use(checkHost);
  if (players && !playerPage.outsideWhitelist) app.use(players);
  app.use(serveConsole(deps.consoleFolder));
  const currentUser = open.routes();
  app.use<object, Parameters<typeof currentUser>[0]>((ctx, next) =>
    CURRENT_USER_PATH.test(ctx.path) ? currentUser(ctx, next) : next(),
  );
  app.use(otherMethods());
  const { consoleSessions, apiTokens, principals } = deps.api;
  app.use(authenticate({ principals, consoleSessions, apiTokens, attempts, log }));
  app.use(sameOriginGuard());
  app.use((ctx, next) => {
    const request = { isAbandoned: false };
    const abandon = () => {
      request.isAbandoned = true;
    };
    ctx.res.once('close', abandon);
    return deps.handleFor(request, next).finally(() => {
      ctx.res.off('close', abandon);
      request.isAbandoned = false;
    });
  });
  app.use(accountApi.routes());
  app.use(compressJson());
  app.use(v1.routes());
  app.use(otherMethods());
  app.use(unknownPath());
  // Errors after the middleware come from streamed responses: the connection broke, or producing the stream failed.
  app.on('error', (err: NodeJS.ErrnoException) => {
    const isConnection = err.code === 'ERR_STREAM_PREMATURE_CLOSE' || err.syscall !== undefined;
    log[isConnection ? 'debug' : 'error']({ err }, 'admin response failed');
  });

  const servers = createHttpServers(app.callback(), deps, {
    isListed: (address) => whitelist.allows(address) || deps.mayCallHooks(address),
    isTrustedProxy: clients.isTrusted,
    isOpenPath: (path) =>
      path.startsWith('/hooks') || (playerPage.outsideWhitelist && isPlayerPath(playerPage, path)),
    log,
  });
  return {
    createHttpServer: servers.create,
    createControlServer: () => createControlServer(v1, log),
    setTls(next) {
      if (!tls) return;
      tls = next;
      servers.setTls(next);
    },
    v1Routes: v1.stack.flatMap(({ methods, path }) =>
      methods
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${String(path).replace(/:(\w+)/g, '{$1}')}`),
    ),
    close() {
      attempts.close();
      codeAttempts.close();
      playerAttempts.close();
      events.close();
      return servers.close();
    },
  };
}
