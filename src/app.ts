// The wiring: builds every part in order, hands each what it needs, starts it, and stops it in reverse.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { createAdminServer } from './admin/server.js';
import type { Config } from './config.js';
import { type AccountLimitsService, createAccountLimits } from './core/account-limits.js';
import { type Accounts, createAccounts } from './core/accounts.js';
import {
  ADMIN_CREDENTIALS_KEY,
  type AdminCredentials,
  createAdminCredentials,
} from './core/admin-credentials.js';
import { AccountDirectory } from './core/directory.js';
import { createEgressPolicy, type EgressPolicy } from './core/egress.js';
import type { Protocol } from './core/heartbeat.js';
import { HeartbeatPool } from './core/heartbeat-pool.js';
import { createRecorder, type Recorder } from './core/heartbeat-recorder.js';
import { createHeartbeatWriter, type WriterEvent } from './core/heartbeat-writer.js';
import { type IpBytes, parseIp, unmap } from './core/ip.js';
import type { Log } from './core/log.js';
import { createLoginGuard } from './core/login-guard.js';
import { OwnOutbound } from './core/outbound.js';
import { hashPassword } from './core/password.js';
import type { Change, Store } from './core/ports.js';
import { SessionRegistry } from './core/session.js';
import { parseWhitelist } from './core/whitelist.js';
import { createWhitelistSetting, WHITELIST_KEY, type WhitelistSetting } from './core/whitelist-setting.js';
import { connectionsFor, descriptorLimit } from './descriptors.js';
import { type ConfigSource, openDesk } from './desk.js';
import { followChanges } from './follow-changes.js';
import { createHooks } from './hooks/hooks.js';
import { listenOn } from './listen.js';
import { createIsLocalAddress } from './own-addresses.js';
import { chooseRelay } from './relay/choose.js';
import { openHostsFile } from './socks/hosts-file.js';
import { createProxySources } from './socks/proxy-protocol.js';
import { createResolver } from './socks/resolve.js';
import { createSocksServer } from './socks/server.js';
import { createFragmentMemory } from './socks/udp/fragments.js';
import { createOwnDatagramPorts } from './socks/udp/own-ports.js';
import { createUpstreams } from './socks/upstreams.js';
import { openSocksListeners } from './socks-listeners.js';
import { portRange, upstreamRules } from './socks-settings.js';
import { openStore } from './store/store.js';

/** How often retention by age is applied, in ms. */
const TRIM_INTERVAL_MS = 60_000;
/** How often the database is asked for changes by other processes, in ms: the command line promises one second. */
const FOLLOW_INTERVAL_MS = 250;
/** How long after a stop a session has to be over before the rest is cut, once it has been told to end, in ms. */
const END_GRACE_MS = 1_000;

/** The administrator's credentials as the environment, a file or systemd gives them. */
export interface GivenCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** What the daemon and the command line share: the store and the rules over it. */
export interface Core {
  readonly store: Store;
  readonly directory: AccountDirectory;
  readonly pool: HeartbeatPool;
  readonly accounts: Accounts;
  readonly whitelist: WhitelistSetting;
  readonly credentials: AdminCredentials;
}

/** The running daemon. */
export interface App {
  /** `address:port` of every listener. */
  readonly ready: { readonly socks: readonly string[]; readonly admin: readonly string[] };
  /** The administrator's credentials if they were made by this very start, else null: to be shown once. */
  readonly firstRun: { readonly username: string; readonly password: string } | null;
  /**
   * Stops accepting, lets sessions finish for `shutdownGrace`, writes what is pending, closes the database.
   * A second call ends the wait for sessions.
   */
  stop(): Promise<void>;
  /** Takes over what may change while the daemon runs: the webhook secrets and the keys of agents. Throws StartError. */
  reload(config: Config): void;
}

/** Opens the database and fills what is kept of it in memory. Throws StartError. */
export async function openCore(config: Config): Promise<Core> {
  const { retention, maxPending } = config.heartbeats;
  const store = await openStore({
    dataDir: config.dataDir,
    client: config.database.client,
    busyTimeoutMs: config.database.busyTimeoutMs,
  });
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const pool = new HeartbeatPool({ maxPending, maxPerAccount: retention.perAccount });
  pool.load(await store.heartbeats.totals());
  const accounts = createAccounts({
    store: store.accounts,
    directory,
    pool,
    now: Date.now,
    newId: randomUUID,
  });
  const whitelist = createWhitelistSetting(store.settings);
  await whitelist.reload();
  const credentials = createAdminCredentials({ settings: store.settings });
  return { store, directory, pool, accounts, whitelist, credentials };
}

/** Starts the daemon; resolves when every listener is up. Throws StartError when it cannot, after undoing what it did. */
export async function startApp(
  config: Config,
  log: Log,
  given: GivenCredentials,
  source: ConfigSource = { file: null, effective: [] },
): Promise<App> {
  const started: (() => void | Promise<void>)[] = [];
  try {
    return await start(config, log, given, source, started);
  } catch (error) {
    for (const undo of started.reverse()) await undo();
    throw error;
  }
}

async function start(
  config: Config,
  log: Log,
  given: GivenCredentials,
  source: ConfigSource,
  started: (() => void | Promise<void>)[],
): Promise<App> {
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
  });
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
      apply: async (change) => {
        await applyChange(core, limits, change);
        if (change.topic === 'setting') await desk.reloadSetting(change.key);
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
  const socketOptions = {
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  };
  const socksListening = await openSocksListeners(config.socks, (arrival) =>
    createServer(socketOptions, (client) => socks.accept(client, arrival)),
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
    for (const undo of started.reverse()) await undo();
  }
  return {
    ready: { socks: socksListening.addresses, admin: adminListening.addresses },
    firstRun,
    stop,
    reload: (changed) => hooks.reload(changed.webhooks),
  };
}

/** A session is counted for its account's limits from its first heartbeat entry to its last. */
function metered(limits: AccountLimitsService, recorder: Recorder): Recorder {
  return {
    ...recorder,
    opened(session) {
      limits.opened(session);
      return recorder.opened(session);
    },
    closed(session) {
      limits.closed(session);
      recorder.closed(session);
    },
  };
}

/** Waits until no session is left; after `graceMs` ends those that are. */
async function sessionsOver(sessions: SessionRegistry, graceMs: number): Promise<void> {
  const until = Date.now() + graceMs;
  while (sessions.size > 0 && Date.now() < until) await pause(Math.min(50, graceMs));
  sessions.endAll('shutdown');
  const cutAt = Date.now() + END_GRACE_MS;
  while (sessions.size > 0 && Date.now() < cutAt) await pause(10);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function applyChange(
  { accounts, whitelist, credentials }: Core,
  limits: AccountLimitsService,
  change: Change,
): Promise<void> {
  if (change.topic === 'account') {
    await accounts.refresh(change.id);
    if (accounts.get(change.id)) await limits.refresh(change.id);
    return;
  }
  if (change.key === WHITELIST_KEY) return whitelist.reload();
  if (change.key === ADMIN_CREDENTIALS_KEY) return credentials.reload();
}

function maxConnections({ socks }: Config): number {
  return socks.maxConnections === 'auto' ? connectionsFor(descriptorLimit()) : socks.maxConnections;
}

/** Half of the places are kept for sessions, whatever waits. */
function maxHandshakes(config: Config): number {
  const { maxHandshakes } = config.socks;
  return maxHandshakes === 'auto' ? Math.max(1, Math.floor(maxConnections(config) / 2)) : maxHandshakes;
}

function reportWriter(log: Log, event: WriterEvent): void {
  switch (event.kind) {
    case 'write-failed':
      return log.error(
        { err: event.error, pending: event.pending },
        'heartbeats not written; kept and tried again',
      );
    case 'write-recovered':
      return log.info({ outageMs: event.outageMs }, 'heartbeats are written again');
    case 'entries-dropped':
      return log.warn(
        { entries: event.entries },
        'heartbeat entries given up: heartbeats.maxPending reached',
      );
    case 'trim-failed':
      return log.error({ err: event.error }, 'old heartbeats not removed; tried again');
    case 'entries-lost':
      return log.error(
        { err: event.error, entries: event.entries },
        'heartbeats lost: the database did not answer',
      );
  }
}
