// The wiring: builds every part in order, hands each what it needs, starts it, and stops it in reverse.
import type { X509Certificate } from 'node:crypto';
import { createHooks } from './agents/hooks.js';
import type { Config } from './config.js';
import { createAccountLimits } from './core/accounts/account-limits.js';
import type { GivenBy } from './core/auth/admin-credentials.js';
import { parseWhitelist } from './core/auth/whitelist.js';
import { everyStep } from './core/every-step.js';
import { createRecorder } from './core/heartbeats/heartbeat-recorder.js';
import { createHeartbeatWriter } from './core/heartbeats/heartbeat-writer.js';
import { parseIp, unmap } from './core/ip.js';
import type { Log } from './core/log.js';
import { createIsOwnOutbound } from './core/sessions/outbound.js';
import { SessionRegistry } from './core/sessions/session.js';
import { isConnectedHere } from './http/guards/tcp-table.js';
import { createAdminServer } from './http/server.js';
import { adminConnections } from './parts/capacity.js';
import { openControlSocket } from './parts/control-socket.js';
import { applyAccounts, openDaemonCore } from './parts/core.js';
import { reportWriter } from './parts/heartbeats.js';
import { openDesk } from './parts/http.js';
import { type Part, sessionsOver, stopAll, stopPart } from './parts/lifecycle.js';
import { listenForAdmin } from './parts/listen.js';
import { startProxy } from './parts/proxy.js';
import type { ConfigSource } from './parts/settings.js';
import { openPlayersListeners } from './parts/socks-listeners.js';
import { takeInTls } from './parts/tls.js';
import { createIsLocalAddress } from './proxy/local-addresses.js';
import type { Broken } from './proxy/plane.js';
import { followChanges } from './store/follow-changes.js';
import { createStorageWatch } from './store/storage-watch.js';
import { explainStartError } from './store/store.js';
import type { GivenSocket } from './systemd-sockets.js';

/** How often quotas are counted and due heartbeats made, in ms. */
const SWEEP_INTERVAL_MS = 1_000;
/** How often retention by age is applied, in ms. */
const TRIM_INTERVAL_MS = 60_000;
/** How often the database is asked for changes by other processes, in ms: the command line promises one second. */
const FOLLOW_INTERVAL_MS = 250;
/** How long a command of an agent may take to end once it is told to, beyond `shutdownGrace`, in ms. */
const COMMAND_END_MS = 5_000;
/** The administrator's credentials as the environment, a file or systemd gives them. */
export interface GivenCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly givenBy?: GivenBy | undefined;
}

/** The running daemon. */
export interface App {
  /** `address:port` of every listener; `https://address:port` where the management plane speaks TLS. */
  readonly ready: { readonly socks: readonly string[]; readonly admin: readonly string[] };
  /** The administrator's credentials if they were made by this very start, else null: to be shown once. */
  readonly firstRun: { readonly username: string; readonly password: string } | null;
  /** What the management plane was started with; null: it speaks plain HTTP. */
  readonly certificate: X509Certificate | null;
  /**
   * Stops accepting, lets sessions finish for `shutdownGrace`, writes what is pending, closes the database.
   * A second call ends the wait for sessions. Never rejects.
   * @returns whether every part stopped in order and in time; the log names those that did not
   */
  stop(): Promise<boolean>;
  /**
   * Takes over what may change while the daemon runs: the webhook secrets, the keys of agents, the certificate of admin.tls.
   * Throws StartError or ConfigError; the old ones stay then.
   */
  reload(config: Config): void;
  /** Whether players are served: every worker of the data plane turns. */
  isAlive(): boolean;
  /** Resolves when players can only be served again by another process; the log says why. */
  readonly broken: Promise<Broken>;
}

/**
 * Starts the daemon; resolves when every listener is up.
 * Throws StartError or ConfigError when it cannot, after undoing what it did.
 */
export async function startApp(
  config: Config,
  log: Log,
  given: GivenCredentials,
  source: ConfigSource = { file: null, effective: [] },
  sockets: readonly GivenSocket[] = [],
): Promise<App> {
  const started: Part[] = [];
  try {
    return await start(config, log, given, source, sockets, started);
  } catch (error) {
    await stopAll(started, config.stopTimeoutMs, log);
    throw explainStartError(error, config.dataDir);
  }
}

async function start(
  config: Config,
  log: Log,
  given: GivenCredentials,
  source: ConfigSource,
  sockets: readonly GivenSocket[],
  started: Part[],
): Promise<App> {
  const tls = takeInTls(config.admin.tls, log, Date.now());
  const core = await openDaemonCore(config, log);
  const { store, directory, pool, accounts, whitelist, credentials } = core;
  started.push({ name: 'database', stop: () => store.close() });
  const storage = createStorageWatch({
    check: store.check,
    intervalMs: config.database.checkIntervalMs,
    log,
    monotonicNow: () => performance.now(),
  });
  storage.start();
  started.push({ name: 'storage', stop: () => storage.stop() });
  const firstRun = await credentials.ensure(given);

  // What is alive, and what becomes of it when its account is closed.
  const sessions = new SessionRegistry();
  directory.onClosed((account, reason) => {
    if (reason === 'account-removed') limits.forget(account.id);
  });

  const limits = createAccountLimits({
    store: store.limits,
    sessions,
    egressClasses: Object.keys(config.egress.classes),
    now: Date.now,
  });
  await limits.load();

  // The operator's desk.
  const desk = await openDesk({
    config,
    source,
    core,
    sessions,
    limits,
    log: storage.log,
    storageProblem: storage.problem,
    engines: () => plane.engines,
    socksAddresses: () => socksListening.addresses,
    now: Date.now,
  });
  desk.start();
  started.push({ name: 'logs and sums', stop: () => desk.close() });

  const writer = createHeartbeatWriter({
    pool,
    directory,
    heartbeats: store.heartbeats,
    accounts: store.accounts,
    traffic: limits,
    retention: desk.heartbeatRetention,
    flushIntervalMs: config.heartbeats.flushIntervalMs,
    trimIntervalMs: TRIM_INTERVAL_MS,
    now: Date.now,
    report: (event) => reportWriter(storage.log, event),
  });
  writer.start();
  started.push({ name: 'heartbeats', stop: () => writer.stop() });

  started.push({
    name: 'changes',
    stop: followChanges({
      feed: store.changes,
      intervalMs: FOLLOW_INTERVAL_MS,
      applyAccounts: (ids) => applyAccounts(core, limits, ids),
      applySetting: core.settings.reload,
      onError: (error) =>
        storage.log.error({ err: error }, 'a change by another process could not be taken in'),
    }),
  });

  // The data plane.
  const recorder = createRecorder({
    pool: {
      record(entry) {
        // A session that outlives its account for a moment leaves nothing behind.
        if (!directory.byId(entry.accountId)) return;
        pool.record(entry);
        desk.heartbeat(entry);
      },
    },
    intervalMs: config.heartbeats.intervalMs,
    now: Date.now,
  });
  let noteBroken: (broken: Broken) => void = () => {};
  const broken = new Promise<Broken>((resolve) => {
    noteBroken = resolve;
  });
  const { plane, libc } = await startProxy({
    config,
    directory,
    limits,
    sessions,
    games: desk.gameRules.rules(),
    recorder,
    logins: desk.logins,
    activity: desk.live,
    onBroken: noteBroken,
    rehash(accountId, before, salted) {
      store.accounts.rehash(accountId, before, salted).catch((error: unknown) => {
        log.error({ err: error, accountId }, 'password hash upgrade failed');
      });
    },
    log,
  });
  started.push({ name: 'data plane', stop: () => plane.stop() });
  desk.gameRules.onChanged((games) => plane.setGames(games));
  const sweep = setInterval(() => {
    limits.enforce();
    recorder.tick(Date.now());
  }, SWEEP_INTERVAL_MS);
  started.push({ name: 'sweep', stop: () => clearInterval(sweep) });
  const isLocalAddress = createIsLocalAddress(() => performance.now());
  const isOwnOutbound = createIsOwnOutbound({
    hasPort: (port) => plane.ownPorts.has('tcp-outbound', port),
    isLocal(address) {
      const ip = parseIp(address);
      return ip !== null && isLocalAddress(unmap(ip));
    },
    remotesOf: ({ address, port }) => plane.findOutbound(address, port),
    isConnected: isConnectedHere,
  });

  // The agent gateway.
  const callers = parseWhitelist(config.webhooks.allowFrom.join(','));
  const mayCall = (source: string) => callers.ok && callers.whitelist.allows(source);
  const hooks = createHooks({
    webhooks: desk.webhooks,
    agents: config.agents,
    dataDir: config.dataDir,
    runs: store.runs,
    deliveries: store.deliveries,
    sessions: store.agentSessions,
    mayCall,
    now: Date.now,
    log: storage.log,
  });
  await hooks.start();
  started.push({ name: 'agents', stop: () => everyStep(() => hooks.stop(0), hooks.release) });

  // The management plane.
  const admin = createAdminServer({
    ...desk.admin,
    handleHook: hooks.handle,
    mayCallHooks: (address) =>
      config.webhooks.enabled && config.webhooks.allowFrom.length > 0 && mayCall(address),
    agents: {
      control: hooks.control,
      runs: store.runs,
      deliveries: store.deliveries,
      sessions: store.agentSessions,
    },
    accounts,
    whitelist,
    credentials,
    tls,
    handshakeTimeoutMs: config.admin.tls.handshakeTimeoutMs,
    isOwnOutbound,
    settle: () => plane.settle(),
    trustedProxies: config.admin.trustedProxies,
    allowedHosts: config.admin.allowedHosts,
    maxBodyBytes: config.admin.maxBodyBytes,
    connections: adminConnections(config),
    attempts: config.admin.attempts,
    maxDelayedPerSource: config.admin.maxDelayedPerSource,
    now: Date.now,
    monotonicNow: () => performance.now(),
    random: Math.random,
    log,
  });
  started.push({ name: 'admin', stop: () => admin.close() });

  // Listen last: whoever connects finds everything in place.
  const socksListening = await openPlayersListeners({
    socks: config.socks,
    plane,
    libc,
    given: sockets.flatMap(({ use, fd }) => (use === 'socks' ? [fd] : [])),
  });
  started.push({ name: 'socks listeners', stop: socksListening.close });
  for (const { port } of socksListening.endpoints) plane.ownPorts.add('tcp-listener', port);
  const adminSockets = sockets.filter(({ use }) => use === 'admin');
  const adminListening = await listenForAdmin({
    sockets: adminSockets.map(({ fd }) => fd),
    ...config.admin,
    createServer: admin.createHttpServer,
  });
  started.push({ name: 'admin listeners', stop: adminListening.close });
  for (const { port } of adminListening.endpoints) plane.ownPorts.add('tcp-listener', port);
  started.push({
    name: 'control socket',
    stop: await openControlSocket(config.dataDir, admin.createControlServer, log),
  });
  // A start that failed before showed nobody the password: the next one makes another.
  await firstRun?.store();

  let isStopping = false;
  async function stop(): Promise<boolean> {
    if (isStopping) {
      plane.endAll('shutdown');
      hooks.interrupt();
      return true;
    }
    isStopping = true;
    desk.stopping();
    const { shutdownGraceMs, stopTimeoutMs } = config;
    const listeners = { name: 'socks listeners', stop: socksListening.close };
    const handshakes = { name: 'handshakes', stop: () => plane.drain() };
    const live = {
      name: 'sessions',
      async stop() {
        await plane.settle();
        await sessionsOver(sessions, shutdownGraceMs);
      },
    };
    // Webhooks are answered with 503 meanwhile, so that callers come back.
    const agents = { name: 'agents', stop: () => hooks.stop(shutdownGraceMs) };
    const outcomes = await Promise.all([
      stopPart(listeners, stopTimeoutMs, log),
      stopPart(handshakes, stopTimeoutMs, log),
      stopPart(live, shutdownGraceMs + stopTimeoutMs, log),
      stopPart(agents, shutdownGraceMs + COMMAND_END_MS + stopTimeoutMs, log),
    ]);
    return (await stopAll(started, stopTimeoutMs, log)) && outcomes.every(Boolean);
  }
  return {
    ready: {
      socks: socksListening.addresses,
      admin: adminListening.addresses.map((address) => (tls ? `https://${address}` : address)),
    },
    firstRun,
    certificate: tls?.certificate ?? null,
    stop,
    isAlive: () => plane.isAlive,
    broken,
    reload(changed) {
      const pair = takeInTls(changed.admin.tls, log, Date.now());
      hooks.reload(changed.webhooks);
      if (pair) admin.setTls(pair);
    },
  };
}
