// The admin API: the middleware of every request, in order, over one HTTP server per address.
import type { Server } from 'node:http';
import { constants } from 'node:zlib';
import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import Koa from 'koa';
import compress from 'koa-compress';
import type { Config, TlsPair } from '../config.js';
import type { HandleHook } from '../core/agents/webhooks.js';
import { accountRoutes, CURRENT_USER_PATH, currentUserRoute } from './account-api/routes.js';
import { accountFormRoutes } from './account-form/routes.js';
import { serveConsole } from './assets.js';
import type { AdminState } from './caller.js';
import { createHttpServers, type HttpServersOptions } from './connections/http.js';
import { authenticate } from './guards/authenticate.js';
import type { IsOwnOutbound } from './guards/client.js';
import { createClientReader, readClient, refuseOwnOutbound, whitelistGuard } from './guards/client.js';
import { answerFailures, otherMethods, unknownPath } from './guards/failures.js';
import { hostGuard, sameOriginGuard } from './guards/host.js';
import { type MetricsDeps, metricsRoute } from './metrics.js';
import type { ControlAccess, HealthDeps, RestartControl } from './plain-routes.js';
import { createControlServer, healthRoutes, hookRoutes } from './plain-routes.js';
import { isPlayerPath, type PlayerOptions, servePlayers } from './player/serve.js';
import { createBodyReader } from './request.js';
import type { Services } from './services.js';
import { serveApi } from './v1/routes.js';

/** `maxBulkBodyBytes`: size of the largest body of a request about many accounts. */
type AdminSettings = Pick<
  Config['admin'],
  'trustedProxies' | 'allowedHosts' | 'accountForm' | 'maxBodyBytes' | 'maxBulkBodyBytes'
>;

export interface AdminServerOptions
  extends HttpServersOptions,
    AdminSettings,
    Omit<PlayerOptions, 'isTrustedProxy' | 'readJsonObject'> {
  readonly health: HealthDeps;
  readonly metrics: Omit<MetricsDeps, 'attempts' | 'certificateExpiresAt'>;
  readonly consoleFolder: string;
  readonly handleHook: HandleHook;
  /** Whether an address is on the list of webhook callers. */
  readonly mayCallHooks: (address: string) => boolean;
  /** Processes what the workers have reported so far. Returns a promise only when it has to ask a worker. */
  readonly settle: () => void | Promise<void>;
  /** Calls the handler of a request, whose `isAbandoned` becomes true when the client goes before the handler is done. */
  readonly handleFor: <Result>(request: { isAbandoned: boolean }, handle: () => Result) => Result;
  readonly isOwnOutbound: IsOwnOutbound;
}

/** HSTS for one day and without subdomains. It applies to every port of the host name, and other services may use those. */
const TRANSPORT_SECURITY = 'max-age=86400';

/** This path is not behind the whitelist, which otherwise runs before the check of the host. */
const METRICS_PATH = '/metrics';

/** Throws StartError when a trusted proxy is neither an address nor a block. */
export function createAdminServer(services: Services, options: AdminServerOptions) {
  const { accounts, whitelist, attempts, playerPage, log, now } = services;
  const { maxBodyBytes, maxBulkBodyBytes } = options;
  let { tls } = options;
  const clients = createClientReader(options.trustedProxies);
  const checkHost = hostGuard({
    allowed: options.allowedHosts,
    isCertified: (name) => name !== '' && tls?.certificate.checkHost(name) !== undefined,
    log,
  });
  const readJsonObject = createBodyReader(maxBodyBytes);

  const open = new Router<AdminState>();
  currentUserRoute(open, { accounts, now });

  // A router of its own, before /api/v1: its lookup cost does not grow with the routes of /api/v1.
  const accountApi = new Router<AdminState>();
  accountRoutes(accountApi, services, readJsonObject);
  if (options.accountForm) accountFormRoutes(accountApi, services, maxBodyBytes);
  const v1 = new Router<AdminState>();
  serveApi(v1, services, { readJsonObject, maxBulkBodyBytes });

  const players =
    playerPage.enabled || playerPage.pac
      ? servePlayers(services, { ...options, readJsonObject, isTrustedProxy: clients.isTrusted })
      : null;

  /** An application with the middleware of every request. */
  function newApp(): Koa<AdminState> {
    const app = new Koa<AdminState>();
    app.use(answerFailures(log));
    app.use(refuseOwnOutbound(options.isOwnOutbound));
    // Every request sees all that players have done before it.
    app.use((_ctx, next) => options.settle()?.then(next) ?? next());
    app.use(readClient(clients, log));
    app.use((ctx, next) => {
      // Caches must not store account data, and browsers must not guess another content type.
      ctx.res.setHeader('Cache-Control', 'no-store');
      ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
      if (tls) ctx.res.setHeader('Strict-Transport-Security', TRANSPORT_SECURITY);
      return next();
    });
    // Errors after the middleware come from streamed responses: the connection broke, or producing the stream failed.
    app.on('error', (err: NodeJS.ErrnoException) => {
      const isConnection = err.code === 'ERR_STREAM_PREMATURE_CLOSE' || err.syscall !== undefined;
      log[isConnection ? 'debug' : 'error']({ err }, 'admin response failed');
    });
    return app;
  }

  // Like webhooks, the paths of players outside the whitelist need their token and no check of the host.
  const usePlayers = (app: Koa<AdminState>, ...guards: Middleware<AdminState>[]): void => {
    if (players && playerPage.outsideWhitelist) app.use(players);
    for (const guard of [whitelistGuard(whitelist.allows), ...guards]) app.use(guard);
    if (players && !playerPage.outsideWhitelist) app.use(players);
  };

  /** The listener of `admin.playerPage`, which serves nothing else. */
  const playersApp = newApp();
  usePlayers(playersApp);
  playersApp.use(unknownPath());

  const app = newApp();
  app.use(healthRoutes(options.health));
  // Webhooks need their token, which no page has. They need no check of the host.
  app.use(hookRoutes(options.handleHook));
  app.use((ctx, next) => (ctx.path === METRICS_PATH ? checkHost(ctx, next) : next()));
  app.use(metricsRoute({ ...options.metrics, attempts, certificateExpiresAt: () => tls?.expiresAt ?? null }));
  usePlayers(app, checkHost);
  app.use(serveConsole(options.consoleFolder));
  const currentUser = open.routes();
  app.use<object, Parameters<typeof currentUser>[0]>((ctx, next) =>
    CURRENT_USER_PATH.test(ctx.path) ? currentUser(ctx, next) : next(),
  );
  app.use(otherMethods());
  app.use(authenticate(services));
  app.use(sameOriginGuard());
  app.use((ctx, next) => {
    const request = { isAbandoned: false };
    const abandon = () => {
      request.isAbandoned = true;
    };
    ctx.res.once('close', abandon);
    return options.handleFor(request, next).finally(() => {
      ctx.res.off('close', abandon);
      request.isAbandoned = false;
    });
  });
  app.use(accountApi.routes());
  app.use(compressJson());
  app.use(v1.routes());
  app.use(otherMethods());
  app.use(unknownPath());

  const servers = createHttpServers(app.callback(), options, {
    isListed: (address) => whitelist.allows(address) || options.mayCallHooks(address),
    isTrustedProxy: clients.isTrusted,
    isOpenPath: (path) =>
      path.startsWith('/hooks') || (playerPage.outsideWhitelist && isPlayerPath(playerPage, path)),
    log,
  });
  return {
    /** Creates an HTTP server of the admin API, one per address. The caller lets it listen. */
    createHttpServer: () => servers.create(),
    /** Creates one that serves only links for players. */
    createPlayersServer: () => servers.create(playersApp.callback()),
    /** Creates an HTTP server that answers /api/v1 without credentials to every process that may open its socket. */
    createControlServer: (access: ControlAccess, restarts: RestartControl): Server =>
      createControlServer(v1, log, access, restarts),
    /** Sets the certificate of new connections, on servers with TLS. */
    setTls(next: TlsPair): void {
      if (!tls) return;
      tls = next;
      servers.setTls(next);
    },
    /** Every registered route of /api/v1, as `GET /api/v1/accounts/{id}`: a test compares the OpenAPI document with it. */
    v1Routes: v1.stack.flatMap(({ methods, path }) =>
      methods
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${String(path).replace(/:(\w+)/g, '{$1}')}`),
    ),
    /** Stops accepting requests, answers those in progress, closes event streams and delayed login refusals, and then ends. */
    close(): Promise<void> {
      attempts.close();
      services.codeAttempts.close();
      services.playerAttempts.close();
      services.events.close();
      return servers.close();
    },
  };
}

/** Shorter responses fit into one packet either way. */
const MIN_COMPRESSED_BYTES = 1024;

/** Responses to GET that contain secrets. Passwords and new tokens are only in responses to POST and PUT. */
const SECRETIVE = /^\/api\/v1\/(session|tokens|accounts\/export)(\/|$)/i;

/**
 * Compresses responses of /api/v1, except those with secrets: when a response contains text of the request beside a secret, the
 * lengths of many compressed responses reveal the secret (BREACH). Mount it before the routes.
 */
function compressJson(): Middleware {
  const compressed = compress({
    threshold: MIN_COMPRESSED_BYTES,
    filter: (type) => type === 'application/json',
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    gzip: { level: 6 },
    deflate: false,
    zstd: false,
  });
  return (ctx, next) => (mayCompress(ctx) ? compressed(ctx, next) : next());
}

function mayCompress({ method, path }: Pick<ParameterizedContext, 'method' | 'path'>): boolean {
  return method === 'GET' && /^\/api\/v1\//i.test(path) && !SECRETIVE.test(path);
}
