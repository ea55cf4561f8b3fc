// The daemon: its parts, in the order in which they are made and started; they stop in reverse.
import type { X509Certificate } from 'node:crypto';
import type { Config } from './config.js';
import type { GivenCredentials } from './core/auth/admin-credentials.js';
import type { Log } from './core/log.js';
import { createAccountsPart } from './parts/accounts.js';
import { createAdminListenersPart } from './parts/admin-listeners.js';
import { createAgentsPart } from './parts/agents.js';
import { openAuth } from './parts/auth.js';
import { createChangesPart } from './parts/changes.js';
import { createControlSocketPart } from './parts/control-socket.js';
import { createCore } from './parts/core.js';
import { createDatabasePart, createStoragePart, storeOptions } from './parts/database.js';
import { createHeartbeatsPart } from './parts/heartbeats.js';
import { createHttpPart } from './parts/http.js';
import { createLifecycle, type Lifecycle } from './parts/lifecycle.js';
import { createLogTrimmingPart } from './parts/log-trimming.js';
import { createNodePart } from './parts/node.js';
import { createNoticesPart } from './parts/notices.js';
import { createProxyPart } from './parts/proxy.js';
import { createSessionsPart } from './parts/sessions.js';
import { type ConfigSource, openSettings } from './parts/settings.js';
import { createSocksListenersPart } from './parts/socks-listeners.js';
import { createStatsPart } from './parts/stats.js';
import { readCertificate } from './parts/tls.js';
import { createTlsListenersPart } from './parts/tls-listeners.js';
import type { Broken } from './proxy/plane.js';
import { explainStartError } from './store/store.js';
import type { GivenSocket } from './systemd-sockets.js';

export interface DaemonOptions {
  readonly config: Config;
  /** Where the configuration comes from, as the settings page shows it. */
  readonly source: ConfigSource;
  readonly log: Log;
  readonly given: GivenCredentials;
  /** Listening sockets of the service manager. */
  readonly sockets: readonly GivenSocket[];
}

/** The running daemon. */
export interface Daemon {
  /** `address:port` of every listener; `https://address:port` where the admin API speaks TLS. */
  readonly ready: { readonly socks: readonly string[]; readonly admin: readonly string[] };
  /** The administrator's credentials if they were made by this very start, else null: to be shown once. */
  readonly firstRun: { readonly username: string; readonly password: string } | null;
  /** What the admin API was started with; null: it speaks plain HTTP. */
  readonly certificate: X509Certificate | null;
  /**
   * Stops accepting, lets sessions finish for `shutdownGrace`, writes what is pending, closes the database.
   * A second call ends the wait for sessions. Never rejects.
   * @returns whether every part stopped in order and in time; the log names those that did not
   */
  stop(): Promise<boolean>;
  /** Takes over the webhook secrets, the keys of agents, the certificates. Throws StartError or ConfigError; the old ones stay then. */
  reload(config: Config): void;
  /** Whether players are served: every worker of the data plane turns. */
  isAlive(): boolean;
  /** Resolves when players can only be served again by another process; the log says why. */
  readonly broken: Promise<Broken>;
}

/** Resolves when every listener is up. Throws StartError or ConfigError when it cannot, after undoing what it did. */
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

async function start(options: DaemonOptions, { use, stop }: Lifecycle): Promise<Daemon> {
  const { config, source, log, given, sockets } = options;
  const startedAt = Date.now();
  const tls = readCertificate(config.admin.tls, log, startedAt);
  const tlsListeners = createTlsListenersPart(config, log);
  const { store } = await use(await createDatabasePart(config, log));
  const storage = await use(createStoragePart(config, store, log));
  const core = await createCore(config, store);
  const firstRun = await core.credentials.ensure(given);
  const base = { config, core, log: storage.log, now: Date.now, startedAt };
  const node = await core.settings.open(await use(await createNodePart(base)));
  await use(createAccountsPart(base));
  const settings = await openSettings({ ...base, source });
  const stats = await use(await createStatsPart({ ...base, node }));
  const liveSessions = await use(createSessionsPart({ ...base, stats, node }));
  const shared = { ...base, settings, stats, node, liveSessions };
  const notices = await use(createNoticesPart(shared));
  await use(createLogTrimmingPart(shared));
  await use(createHeartbeatsPart(shared));
  await use(createChangesPart(shared));
  const { plane, libc, broken } = await use(createProxyPart({ ...shared, log, notices }));
  const agents = await use(createAgentsPart(shared));
  const auth = await openAuth(base);
  // Listeners open last: whoever connects finds everything in place.
  await use(tlsListeners);
  const listeners = createSocksListenersPart({ config, plane, libc, sockets, tls: tlsListeners });
  const forHttp = { ...shared, log, auth, problem: storage.problem, plane, listeners, agents, tls };
  const http = await use(createHttpPart(forHttp));
  await use(listeners);
  const admin = await use(createAdminListenersPart({ config, plane, http, sockets }));
  await use(createControlSocketPart({ config, http, log }));
  await node.serve({
    addresses: () => ({ socks: listeners.addresses, admin: admin.addresses }),
    load: () => stats.load(),
    refuse: (isRefusing) => plane.refuse(isRefusing),
  });
  // A start that failed before showed nobody the password: the next one makes another.
  await firstRun?.store();

  return {
    ready: { socks: listeners.addresses, admin: admin.addresses },
    firstRun,
    certificate: http.certificate,
    stop,
    isAlive: () => plane.isAlive,
    broken,
    reload(changed) {
      const pair = readCertificate(changed.admin.tls, log, Date.now());
      tlsListeners.reload();
      agents.reload(changed.webhooks);
      if (pair) http.setTls(pair);
    },
  };
}
