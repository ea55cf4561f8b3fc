// The daemon: creates and starts its parts in order, and stops them in reverse order.
import type { X509Certificate } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { Config } from './config.js';
import type { GivenCredentials } from './core/auth/admin-credentials.js';
import { ExitFigures } from './core/exits/exit-figures.js';
import type { Log } from './core/log.js';
import { SessionRegistry } from './core/sessions/session-registry.js';
import type { RecentLog } from './core/stats/recent-log.js';
import type { RestartControl } from './http/plain-routes.js';
import { createAdminListenersPart, createControlSocketPart } from './parts/admin/admin-listeners.js';
import { createHttpPart } from './parts/admin/http.js';
import { createAgentsPart } from './parts/agents.js';
import { createGivenPasswordPart, openAuth } from './parts/auth.js';
import { createPriorityPart } from './parts/capacity.js';
import { readCertificate } from './parts/certificates.js';
import { createCore, enterTimeZone } from './parts/core.js';
import { createActivityPart, createChangesPart, createPenaltiesPart } from './parts/database/changes.js';
import { createDatabasePart, createStoragePart, storeOptions } from './parts/database/database.js';
import { createNodePart } from './parts/database/node.js';
import { createSessionsPart } from './parts/database/sessions.js';
import { createGeoPart, warnOfLostGeo } from './parts/geo.js';
import { createHeartbeatsPart, createLogTrimmingPart } from './parts/heartbeats.js';
import { createLifecycle, type Lifecycle } from './parts/lifecycle.js';
import { type HandedSocket, ListeningSockets } from './parts/listening-sockets.js';
import { createNoticesPart } from './parts/notices.js';
import { type ConfigSource, openSettings } from './parts/operator-settings.js';
import { anyLibc } from './parts/players/engine.js';
import { createExits } from './parts/players/exits.js';
import { createFirstLoginsPart } from './parts/players/first-logins.js';
import { createPlanePart } from './parts/players/plane.js';
import { createProxyPart } from './parts/players/proxy.js';
import { createSocksListenersPart } from './parts/players/socks-listeners.js';
import { createTlsListenersPart } from './parts/players/tls-listeners.js';
import { createStatsPart } from './parts/stats.js';
import { type PlaneHandover, type PlaneState, readPlaneState } from './proxy/handover/state.js';
import type { Carried } from './proxy/io/native/carrier.js';
import type { PlaneFailure } from './proxy/plane/plane.js';
import { explainStartError } from './store/store.js';
import type { GivenSocket } from './systemd/sockets.js';

export interface DaemonOptions {
  readonly config: Config;
  /** The sources of the configuration, for the settings page. */
  readonly source: ConfigSource;
  readonly log: Log;
  readonly recentLog: RecentLog;
  readonly given: GivenCredentials;
  /** Listening sockets from systemd socket activation. */
  readonly sockets: readonly GivenSocket[];
  /** From the process before; null: this one starts without it. */
  readonly handed: Carried | null;
  /** The restart that a command may ask for. */
  readonly restarts: RestartControl;
}

/** The running daemon. */
export interface Daemon {
  /** `address:port` of every listener; `https://address:port` when the admin API uses TLS. */
  readonly ready: { readonly socks: readonly string[]; readonly admin: readonly string[] };
  /** The administrator's credentials if this start generated them, to show once; otherwise null. */
  readonly firstRun: { readonly username: string; readonly password: string } | null;
  /** The certificate of the admin API; null when it uses plain HTTP. */
  readonly certificate: X509Certificate | null;
  /**
   * Stops accepting connections, waits for sessions for `shutdownGrace`, writes pending data, and closes the database.
   * A second call ends the wait for sessions. Never rejects.
   * @returns whether every part stopped without errors and in time; the log names the others
   */
  stop(): Promise<boolean>;
  /** Stops for a successor, and returns what it takes. Never rejects. */
  handOver(): Promise<Carried>;
  /** Reloads webhook secrets, API keys of agents, certificates, countries and networks. Throws StartError or ConfigError and keeps the old ones on failure. */
  reload(config: Config): void;
  /** Whether every worker of the data plane responds. */
  isAlive(): boolean;
  /** Resolves when the data plane has failed and the process must restart; the log contains the reason. */
  readonly broken: Promise<PlaneFailure>;
}

/** Resolves when all listeners accept connections. On failure stops the started parts and throws StartError or ConfigError. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { shutdownGraceMs: graceMs, stopTimeoutMs } = options.config;
  const lifecycle = createLifecycle({ graceMs, stopTimeoutMs, log: options.log });
  try {
    return await start(options, lifecycle);
  } catch (error) {
    await lifecycle.undo();
    throw await explainStartError(error, storeOptions(options.config));
  }
}

/** What a process hands over. */
interface HandedState {
  /** Their descriptors are the first ones, in this order. */
  readonly listening: readonly HandedSocket[];
  /** Its descriptors are the others. */
  readonly plane: PlaneState | null;
}

/** The connections of the process before. A state of an unknown version ends them. */
function readPlane({ handed, log }: DaemonOptions): PlaneHandover | null {
  const { listening = [], plane = null } = (handed?.state ?? {}) as Partial<HandedState>;
  if (handed === null || plane === null) return null;
  const descriptors = handed.descriptors.slice(listening.length);
  const read = readPlaneState(plane);
  if (read.ok) return { state: read.state, descriptors };
  for (const fd of descriptors) closeSync(fd);
  log.warn({ reason: read.reason, ended: read.sessions }, 'sessions of the previous process cannot continue');
  return null;
}

/** Null: without direct system calls nothing is handed over. */
function openSockets({ handed }: DaemonOptions): ListeningSockets | null {
  const libc = anyLibc();
  if (libc === null) return null;
  const { listening = [] } = (handed?.state ?? {}) as Partial<HandedState>;
  return new ListeningSockets(
    libc,
    new Map(listening.map((each) => [handed?.descriptors[each.index] ?? -1, each])),
  );
}

async function start(
  options: DaemonOptions,
  { use, startEarly, stop, handOver }: Lifecycle,
): Promise<Daemon> {
  const { config, source, log, recentLog, given, restarts } = options;
  const sockets = openSockets(options);
  const givenSockets = [...options.sockets, ...(sockets?.given ?? [])];
  const startedAt = Date.now();
  const tls = readCertificate(config.admin.tls, log, startedAt);
  const geo = await use(createGeoPart(config, log));
  const priority = createPriorityPart(config, log);
  const sessions = new SessionRegistry();
  const handed = readPlane(options);
  const players = createPlanePart({ config, geo, sessions, handed, log });
  const { plane, libc, broken } = players;
  const tlsListeners = createTlsListenersPart(config, sockets, log);
  const listeners = createSocksListenersPart({
    config,
    plane,
    libc,
    sockets,
    given: givenSockets,
    tls: tlsListeners,
  });
  // Their accounts came with them: neither sessions nor logins wait for a database that is migrated or does not answer.
  if (handed) for (const part of [players, tlsListeners, listeners]) await startEarly(part);
  const { store } = await use(await createDatabasePart(config, log));
  const storage = await use(createStoragePart(config, store, log));
  const core = await createCore(config, store, sessions);
  warnOfLostGeo(config, core.directory, log);
  const firstRun = await core.credentials.ensure(given);
  const base = { config, core, log: storage.log, now: Date.now, startedAt };
  const node = await core.settings.open(await use(await createNodePart(base)));
  await enterTimeZone(base);
  await core.usage.load();
  const settings = await openSettings({ ...base, source });
  const stats = await use(await createStatsPart({ ...base, node }));
  const liveSessions = await use(createSessionsPart({ ...base, stats, node }));
  const penalties = await use(createPenaltiesPart(base));
  const shared = { ...base, settings, stats, node, liveSessions, penalties };
  const notices = await use(createNoticesPart(shared));
  await use(createLogTrimmingPart(shared));
  const heartbeats = await use(createHeartbeatsPart(shared));
  await use(createActivityPart({ ...shared, heartbeats }));
  const firstLogins = await use(createFirstLoginsPart(base));
  const exitFigures = new ExitFigures(base.now);
  const counts = createProxyPart({ ...shared, log, players, notices, firstLogins, exitFigures });
  // It stops after the data plane: sessions over TLS cannot be handed over, and end last.
  await use(tlsListeners);
  await use(players);
  await use(counts);
  await use(createChangesPart({ ...shared, plane }));
  const exits = createExits({ ...base, exitFigures }, plane, libc);
  const agents = await use(createAgentsPart(shared));
  const auth = await openAuth(base);
  const http = await use(
    createHttpPart({
      ...shared,
      log,
      recentLog,
      auth,
      notices,
      heartbeats,
      problem: storage.problem,
      plane,
      listeners,
      tlsListeners,
      agents,
      exits,
      geo,
      tls,
      restarts,
      monotonicNow: () => performance.now(),
      random: Math.random,
    }),
  );
  // Listeners open last, so that every connection finds the other parts running.
  await use(listeners);
  const admin = await use(createAdminListenersPart({ config, plane, http, sockets, given: givenSockets }));
  await use(createControlSocketPart({ config, http, sockets, log }));
  sockets?.closeUnused();
  await penalties.read();
  await node.serve({
    addresses: () => ({
      socks: listeners.addresses,
      admin: admin.addresses,
      players: listeners.reachedAt(settings.publicAddress.current()),
    }),
    load: () => stats.load(),
    refuse: (isRefusing) => plane.tell({ kind: 'refuse', isRefusing }),
  });
  await use(priority);
  await use(createGivenPasswordPart(base));
  // Stored last: a failed start has not shown the password, so the next start generates a new one.
  const isShown = (await firstRun?.store()) ?? false;

  return {
    ready: { socks: listeners.addresses, admin: admin.addresses },
    firstRun: isShown ? firstRun : null,
    certificate: http.certificate,
    stop,
    async handOver() {
      const { sockets: listening, descriptors } = sockets?.handOver() ?? { sockets: [], descriptors: [] };
      await handOver();
      const { handover } = players;
      return {
        descriptors: [...descriptors, ...(handover?.descriptors ?? [])],
        state: { listening, plane: handover?.state ?? null } satisfies HandedState,
      };
    },
    isAlive: () => plane.isAlive,
    broken,
    reload(changed) {
      // Everything is read before anything changes, so that one broken file leaves all of the configuration in use.
      const pair = readCertificate(changed.admin.tls, log, Date.now());
      const reloads = [tlsListeners.prepareReload(), agents.prepareReload(changed.webhooks)];
      for (const reload of reloads) reload();
      if (pair) http.setTls(pair);
      geo.reload();
    },
  };
}
