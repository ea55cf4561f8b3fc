// The daemon: creates and starts what serves players, then the control plane (parts/control-plane.ts), and stops them in reverse order.
import type { X509Certificate } from 'node:crypto';
import { closeSync } from 'node:fs';
import { type HandedConfig, toHandedConfig } from './config/sources.js';
import type { Config } from './config.js';
import type { GivenCredentials } from './core/auth/admin-credentials.js';
import type { Log } from './core/log.js';
import { SessionRegistry } from './core/sessions/session-registry.js';
import type { RecentLog } from './core/stats/recent-log.js';
import { everyStep } from './core/time/turns.js';
import type { RestartControl } from './http/plain-routes.js';
import { createPriorityPart } from './parts/capacity.js';
import { createGeoPart } from './parts/geo.js';
import { createLifecycle, type Lifecycle } from './parts/lifecycle.js';
import { type HandedSocket, ListeningSockets } from './parts/listeners/sockets.js';
import type { ConfigSource } from './parts/operator-settings.js';
import { anyLibc } from './parts/players/engine.js';
import { createPlanePart } from './parts/players/plane.js';
import { createSocksListenersPart } from './parts/players/socks-listeners.js';
import { createTlsListenersPart } from './parts/players/tls-listeners.js';
import { type PlaneHandover, type PlaneState, readPlaneState } from './proxy/handover/state.js';
import type { Carried } from './proxy/io/native/carrier.js';
import type { PlaneFailure } from './proxy/plane/plane.js';
import type { GivenSocket } from './systemd/sockets.js';

interface DaemonOptions {
  readonly config: Config;
  /** As of `hashSources`. */
  readonly sources: string | null;
  readonly log: Log;
  /** Listening sockets from systemd socket activation. */
  readonly sockets: readonly GivenSocket[];
  /** From the process before; null: this one starts without it. */
  readonly handed: Carried | null;
  /** Loads the rest of the configuration and of the program. */
  readonly loadControlPlane: () => Promise<{
    readonly options: ControlPlaneOptions;
    readonly startControlPlane: StartControlPlane;
  }>;
}

export interface ControlPlaneOptions {
  readonly config: Config;
  /** The sources of the configuration, for the settings page. */
  readonly source: ConfigSource;
  readonly log: Log;
  readonly recentLog: RecentLog;
  readonly given: GivenCredentials;
  /** The restart that a command may ask for. */
  readonly restarts: RestartControl;
}

/** Resolves when all listeners accept connections. After a handover what serves players has started. */
export type StartControlPlane = (
  options: ControlPlaneOptions,
  serving: Serving,
  lifecycle: Lifecycle,
) => Promise<
  Pick<Daemon, 'ready' | 'firstRun' | 'certificate' | 'reload'> & { closeDatabase(): Promise<void> }
>;

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
  /** Stops for a successor. Threads of players, and the database's file, wait for the end of the process. */
  handOver(): Leaving;
  /** After `handOver`, where the process goes on: ends and closes these. */
  endRest(): Promise<void>;
  /** Reloads webhook secrets, API keys of agents, certificates, countries and networks. Throws StartError or ConfigError and keeps the old ones on failure. */
  reload(config: Config): void;
  isAlive(): boolean;
  /** Resolves when the data plane has failed and the process must restart; the log contains the reason. */
  readonly broken: Promise<PlaneFailure>;
}

/** A daemon that stops for a successor. Neither promise rejects. */
export interface Leaving {
  /** What the successor takes. */
  readonly carried: Promise<Carried>;
  /** Resolves when everything is written. */
  readonly stopped: Promise<unknown>;
}

/** Resolves when all listeners accept connections. On failure stops the started parts and throws StartError or ConfigError. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { shutdownGraceMs: graceMs, stopTimeoutMs } = options.config;
  const lifecycle = createLifecycle({ graceMs, stopTimeoutMs, log: options.log });
  try {
    return await start(options, lifecycle);
  } catch (error) {
    await lifecycle.undo();
    throw error;
  }
}

/** What a process hands over. */
interface HandedState {
  /** Their descriptors are the first ones, in this order. */
  readonly listening: readonly HandedSocket[];
  /** Its descriptors are the others. */
  readonly plane: PlaneState | null;
  readonly config: HandedConfig;
}

/** What the process before handed over; of an older version without some of it. */
export const handedState = (handed: Carried | null): Partial<HandedState> =>
  (handed?.state ?? {}) as Partial<HandedState>;

/** The connections of the process before. A state of an unknown version ends them. */
function readPlane({ handed, log }: DaemonOptions): PlaneHandover | null {
  const { listening = [], plane = null } = handedState(handed);
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
  const { listening = [] } = handedState(handed);
  return new ListeningSockets(
    libc,
    new Map(listening.map((each) => [handed?.descriptors[each.index] ?? -1, each])),
  );
}

export type Serving = Awaited<ReturnType<typeof createServing>>;

async function createServing(options: DaemonOptions, { use }: Lifecycle) {
  const { config, log } = options;
  const sockets = openSockets(options);
  // systemd gives its sockets to each process that it starts; they are the same as those of the process before.
  const given = options.sockets.length > 0 ? options.sockets : (sockets?.given ?? []);
  const geo = await use(createGeoPart(config, log));
  const priority = createPriorityPart(config, log);
  const sessions = new SessionRegistry();
  const handed = readPlane(options);
  const players = createPlanePart({ config, geo, sessions, handed, log });
  const tlsListeners = createTlsListenersPart(config, sockets, log);
  const listeners = createSocksListenersPart({ config, ...players, sockets, given, tls: tlsListeners });
  return { sockets, given, geo, priority, sessions, handed, players, tlsListeners, listeners };
}

async function start(options: DaemonOptions, lifecycle: Lifecycle): Promise<Daemon> {
  const serving = await createServing(options, lifecycle);
  const { sockets, handed, players, tlsListeners, listeners } = serving;
  // Their accounts came with them: neither sessions nor logins wait for the rest of the program to be loaded, nor for a database that
  // is migrated or does not answer.
  if (handed) {
    for (const part of [players, tlsListeners, listeners]) await lifecycle.startEarly(part);
    await players.plane.requests.synced();
  }
  const loaded = await options.loadControlPlane();
  const { closeDatabase, ...control } = await loaded.startControlPlane(loaded.options, serving, lifecycle);
  return {
    ...control,
    stop: lifecycle.stop,
    handOver() {
      const { sockets: listening, descriptors } = sockets?.handOver() ?? { sockets: [], descriptors: [] };
      const stopped = lifecycle.handOver();
      const carried = Promise.race([players.handover, stopped.then(() => null)]).then((handover) => ({
        descriptors: [...descriptors, ...(handover?.descriptors ?? [])],
        state: {
          listening,
          plane: handover?.state ?? null,
          config: toHandedConfig(options.sources, options.config),
        } satisfies HandedState,
      }));
      return { carried, stopped };
    },
    endRest: () => everyStep(players.stop, closeDatabase),
    isAlive: () => players.plane.isAlive,
    broken: players.broken,
  };
}
