// The wiring: builds every part in order, hands each what it needs, starts it, and stops it in reverse.
import { randomUUID, type X509Certificate } from 'node:crypto';
import { createAdminServer } from './admin/server.js';
import type { Config } from './config.js';
import { createAccountLimits } from './core/accounts/account-limits.js';
import { createLoginGuard } from './core/accounts/login-guard.js';
import { hashPassword } from './core/accounts/password.js';
import { createEgressPolicy, type EgressPolicy } from './core/egress/egress.js';
import type { Protocol } from './core/heartbeats/heartbeat.js';
import { createRecorder } from './core/heartbeats/heartbeat-recorder.js';
import { createHeartbeatWriter } from './core/heartbeats/heartbeat-writer.js';
import { type IpBytes, parseIp, unmap } from './core/ip.js';
import type { Log } from './core/log.js';
import { parseWhitelist } from './core/operator/whitelist.js';
import { OwnOutbound } from './core/sessions/outbound.js';
import { SessionRegistry } from './core/sessions/session.js';
import { createHooks } from './hooks/hooks.js';
import { chooseRelay } from './relay/choose.js';
import { openHostsFile } from './socks/hosts-file.js';
import { createProxySources } from './socks/proxy-protocol.js';
import { createSocksListener } from './socks/quick-sockets.js';
import { createResolver } from './socks/resolve.js';
import { createSocksServer } from './socks/server.js';
import { createFragmentMemory } from './socks/udp/fragments.js';
import { createOwnDatagramPorts } from './socks/udp/own-ports.js';
import { createUpstreams } from './socks/upstreams.js';
import { takeInTls } from './wiring/admin-tls.js';
import { maxConnections, maxHandshakes } from './wiring/capacity.js';
import { applyAccounts, applySetting, openCore } from './wiring/core.js';
import type { ConfigSource } from './wiring/desk/settings.js';
import { openDesk } from './wiring/desk.js';
import { sessionsOver, stopAll, type Undo } from './wiring/drain.js';
import { followChanges } from './wiring/follow-changes.js';
import { metered, reportWriter } from './wiring/heartbeats.js';
import { listenOn } from './wiring/listen.js';
import { createIsLocalAddress } from './wiring/own-addresses.js';
import { openSocksListeners } from './wiring/socks-listeners.js';
import { portRange, upstreamRules } from './wiring/socks-settings.js';
import { isConnectedHere } from './wiring/tcp-table.js';

/** How often retention by age is applied, in ms. */
const TRIM_INTERVAL_MS = 60_000;
/** How often the database is asked for changes by other processes, in ms: the command line promises one second. */
const FOLLOW_INTERVAL_MS = 250;
/** The administrator's credentials as the environment, a file or systemd gives them. */
export interface GivenCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
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
   * A second call ends the wait for sessions.
   */
  stop(): Promise<void>;
  /**
   * Takes over what may change while the daemon runs: the webhook secrets, the keys of agents, the certificate of admin.tls.
   * Throws StartError or ConfigError; the old ones stay then.
   */
  reload(config: Config): void;
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
): Promise<App> {
  const started: Undo[] = [];
  try {
    return await start(config, log, given, source, started);
  } catch (error) {
    await stopAll(started, log);
    throw error;
  }
}

async function start(
  config: Config,
  log: Log,
  given: GivenCredentials,
  source: ConfigSource,
  started: Undo[],
): Promise<App> {
  const tls = takeInTls(config.admin.tls, log, Date.now());
  const core = await openCore(config);
  const { store, directory, pool, accounts, whitelist, credentials } = core;
  started.push(() => store.close());
  const firstRun = await credentials.ensure(given);

  // What is alive, and what becomes of it when its account is closed.
  const sessions = new SessionRegistry();
  directory.onClosed((account, reason) => {
    sessions.endAccount(account.id, reason);
    // After its sessions, which are still counted.
    if (reason === 'account-removed') limits.forget(account.id);
  });

  // Where each account may go, and how much of everything it may use.
  const ownPorts = new Set<number>();
  const isLocalAddress = createIsLocalAddress(Date.now);
  const outbound = new OwnOutbound((address) => {
    const ip = parseIp(address);
    return ip !== null && isLocalAddress(unmap(ip));
  }, isConnectedHere);
  const ownUdpPorts = createOwnDatagramPorts();
  // Of associations only the clients' side is a listener: players may reach each other's outer side, as behind any NAT.
  const isOwnListener = (ip: IpBytes, port: number, protocol: Protocol): boolean =>
    (protocol === 'tcp' ? ownPorts.has(port) : ownUdpPorts.isClientSide(port)) && isLocalAddress(ip);
  const egress = createEgressPolicy({ ...config.egress, isOwnListener });
  const egressClasses = new Map<string, EgressPolicy>(
    Object.entries(config.egress.classes).map(([name, rules]) => [
      name,
      createEgressPolicy({ ...rules, isOwnListener }),
    ]),
  );
  const limits = createAccountLimits({
    store: store.limits,
    sessions,
    egressOf: (name) => (name === null ? egress : egressClasses.get(name)),
    now: Date.now,
    monotonicNow: () => performance.now(),
  });
  await limits.load();

  // The operator's desk.
  const desk = await openDesk({
    config,
    source,
    core,
    sessions,
    limits,
    log,
    socksAddresses: () => socksListening.addresses,
    now: Date.now,
  });
  desk.start();
  started.push(() => desk.close());

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
    report: (event) => reportWriter(log, event),
  });
  writer.start();
  started.push(() => writer.stop());

  started.push(
    followChanges({
      feed: store.changes,
      intervalMs: FOLLOW_INTERVAL_MS,
      applyAccounts: (ids) => applyAccounts(core, limits, ids),
      applySetting: async (key) => {
        await applySetting(core, key);
        await desk.reloadSetting(key);
      },
      onError: (error) => log.error({ err: error }, 'a change by another process could not be taken in'),
    }),
  );

  // The SOCKS side.
  const hosts = openHostsFile();
  const resolver = createResolver({ ...config.dns, hosts });
  started.push(() => {
    resolver.close();
    hosts.close();
  });
  const relay = await chooseRelay(config.socks.relay, { log, random: Math.random });
  started.push(() => relay.close());
  const socks = createSocksServer({
    directory,
    egress,
    egressClasses,
    limits,
    allowUnderscore: config.egress.allowUnderscore,
    resolve: resolver.resolve,
    recorder: metered(
      limits,
      desk.watch(
        createRecorder({
          pool: {
            record(entry) {
              pool.record(entry);
              desk.heartbeat(entry);
            },
          },
          rules: desk.gameRules,
          intervalMs: config.heartbeats.intervalMs,
          now: Date.now,
        }),
      ),
    ),
    sessions,
    outbound,
    relay: relay.engine,
    udp: {
      ...config.socks.udp,
      portRange: portRange(config.socks.udp.portRange),
      publicAddresses: [config.socks.udp.publicAddress ?? []].flat(),
      engine: relay.datagrams,
      fragmentMemory: createFragmentMemory(config.socks.udp.fragmentMemoryBytes),
      ownPorts: ownUdpPorts,
      isLocalAddress,
    },
    bind: {
      ...config.socks.bind,
      portRange: portRange(config.socks.bind.portRange),
      publicAddresses: [config.socks.bind.publicAddress ?? []].flat(),
      ownPorts,
      random: Math.random,
    },
    proxySources: createProxySources(config.socks.proxyProtocolFrom),
    upstreams: createUpstreams(upstreamRules(config.socks.upstreams)),
    log,
    now: Date.now,
    newId: randomUUID,
    handshakeTimeoutMs: config.socks.handshakeTimeoutMs,
    connectTimeoutMs: config.socks.connectTimeoutMs,
    idleTimeoutMs: config.socks.idleTimeoutMs,
    halfCloseTimeoutMs: config.socks.halfCloseTimeoutMs,
    maxConnections: maxConnections(config),
    maxHandshakes: maxHandshakes(config),
    maxHandshakesPerSource: config.socks.maxHandshakesPerSource,
    logins: desk.logins,
    loginGuard: createLoginGuard({
      maxFailuresPerSource: config.socks.login.maxFailuresPerSource,
      maxFailuresPerLogin: config.socks.login.maxFailuresPerUser,
      windowMs: config.socks.login.failureWindowMs,
      maxRows: config.socks.login.maxSources,
      now: Date.now,
    }),
    rehash(account, password) {
      const salted = hashPassword(password);
      directory.rehashed(account.id, salted);
      store.accounts
        .rehash(account.id, account.passwordHash, salted)
        .catch((error: unknown) =>
          log.error({ err: error, account: account.username }, 'password not salted'),
        );
    },
  });
  socks.start();
  started.push(() => socks.stop());

  // The agent gateway.
  const callers = parseWhitelist(config.webhooks.allowFrom.join(','));
  const hooks = createHooks({
    webhooks: desk.webhooks,
    agents: config.agents,
    dataDir: config.dataDir,
    runs: store.runs,
    deliveries: store.deliveries,
    sessions: store.agentSessions,
    mayCall: (source) => callers.ok && callers.whitelist.allows(source),
    now: Date.now,
    log,
  });
  await hooks.start();
  started.push(() => hooks.stop(0));

  // The management plane.
  const admin = createAdminServer({
    ...desk.admin,
    handleHook: hooks.handle,
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
    isOwnOutbound: (peer, here) => outbound.has(peer, here),
    trustedProxies: config.admin.trustedProxies,
    maxBodyBytes: config.admin.maxBodyBytes,
    maxDelayedPerSource: config.admin.maxDelayedPerSource,
    now: Date.now,
    random: Math.random,
    log,
  });
  started.push(() => admin.close());

  // Listen last: whoever connects finds everything in place.
  const socksListening = await openSocksListeners(config.socks, (arrival) =>
    createSocksListener((client) => socks.accept(client, arrival)),
  );
  started.push(socksListening.close);
  for (const { port } of socksListening.endpoints) ownPorts.add(port);
  const adminListening = await listenOn({
    name: 'admin',
    hosts: config.admin.host,
    port: config.admin.port,
    createServer: admin.createHttpServer,
  });
  started.push(adminListening.close);
  for (const { port } of adminListening.endpoints) ownPorts.add(port);
  // A start that failed before showed nobody the password: the next one makes another.
  await firstRun?.store();

  let isStopping = false;
  async function stop(): Promise<void> {
    if (isStopping) {
      sessions.endAll('shutdown');
      hooks.interrupt();
      return;
    }
    isStopping = true;
    desk.stopping();
    socksListening.close();
    socks.closeHandshakes();
    // Webhooks are answered with 503 meanwhile, so that callers come back.
    await Promise.all([sessionsOver(sessions, config.shutdownGraceMs), hooks.stop(config.shutdownGraceMs)]);
    await stopAll(started, log);
  }
  return {
    ready: {
      socks: socksListening.addresses,
      admin: adminListening.addresses.map((address) => (tls ? `https://${address}` : address)),
    },
    firstRun,
    certificate: tls?.certificate ?? null,
    stop,
    reload(changed) {
      const pair = takeInTls(changed.admin.tls, log, Date.now());
      hooks.reload(changed.webhooks);
      if (pair) admin.setTls(pair);
    },
  };
}
