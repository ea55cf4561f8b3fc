// The admin API as a part of the daemon: its server, and what health checks and metrics observe of the other parts.
import type { Server } from 'node:http';
import { join } from 'node:path';
import { configError } from '../../config/config-error.js';
import type { TlsPair } from '../../config.js';
import { codeOf } from '../../core/errors.js';
import { type Asset, readAsset } from '../../http/assets.js';
import type { ControlAccess, RestartControl } from '../../http/plain-routes.js';
import { type AdminServerOptions, createAdminServer } from '../../http/server.js';
import { PROGRAM_FOLDER, readVersion } from '../../program.js';
import type { AgentsPart } from '../agents.js';
import { handleFor } from '../callers.js';
import { adminConnections } from '../capacity.js';
import type { Core } from '../core.js';
import type { NodePart } from '../database/node.js';
import type { PlanePart } from '../players/plane.js';
import type { TlsListenersPart } from '../players/tls-listeners.js';
import type { StatsPart } from '../stats.js';
import { createListenerCheck } from './listener-check.js';
import { ownOutboundCheck } from './own-outbound.js';
import { createServices, type ServiceParts } from './services.js';

/** What the admin API measures and reports of the other parts. */
export interface ObservedParts extends Pick<ServiceParts, 'config' | 'listeners' | 'exits'> {
  readonly core: Pick<Core, 'store' | 'pool' | 'sessions'>;
  readonly stats: Pick<StatsPart, 'activity' | 'overview'>;
  readonly node: Pick<NodePart, 'nodeName' | 'problem'>;
  readonly plane: Pick<PlanePart['plane'], 'engines'> & { readonly listeners: { readonly areOpen: boolean } };
  readonly tlsListeners: Pick<TlsListenersPart, 'certificates' | 'isListening'>;
  /** The current problem of the database; null: none. */
  readonly problem: () => Promise<string | null>;
}

export function createHttpPart(
  deps: ServiceParts &
    ObservedParts & {
      readonly plane: PlanePart['plane'];
      readonly agents: AgentsPart;
      readonly tls: TlsPair | null;
      readonly restarts: RestartControl;
    },
) {
  const { config, plane, agents, tls, restarts } = deps;
  const { admin } = config;
  let isStopping = false;
  const server = createAdminServer(createServices(deps), {
    ...admin,
    ...observe(deps, () => isStopping),
    consoleFolder: join(PROGRAM_FOLDER, 'dist/console'),
    playerFolder: join(PROGRAM_FOLDER, 'dist/player'),
    playerPicture: readPicture(admin.playerPage.picture),
    handleHook: agents.handle,
    mayCallHooks: agents.mayCall,
    tls,
    handshakeTimeoutMs: admin.tls.handshakeTimeoutMs,
    handleFor,
    isOwnOutbound: ownOutboundCheck(plane, deps.core.exits),
    settle: () => plane.requests.settle(),
    connections: adminConnections(config),
    maxSources: admin.attempts.maxSources,
    monotonicNow: deps.monotonicNow,
  });
  return {
    name: 'admin API',
    /** The certificate at the start; null for plain HTTP. */
    certificate: tls?.certificate ?? null,
    createHttpServer: server.createHttpServer,
    createPlayersServer: server.createPlayersServer,
    createControlServer: (access: ControlAccess): Server => server.createControlServer(access, restarts),
    setTls: server.setTls,
    drain() {
      isStopping = true;
    },
    stop: () => server.close(),
  };
}

export function observe(
  { config, core, stats, node, plane, listeners, tlsListeners, exits, problem }: ObservedParts,
  isStopping: () => boolean,
): Pick<AdminServerOptions, 'health' | 'metrics'> {
  const stopping = () => (isStopping() ? 'stopping' : null);
  const version = readVersion();
  const doListenersAnswer = createListenerCheck(() => listeners.addresses);
  return {
    health: {
      async trouble() {
        const found = stopping() ?? (await problem());
        if (found === null) await core.store.ping();
        return found;
      },
      playersTrouble: async () =>
        stopping() ??
        node.problem() ??
        (plane.listeners.areOpen && tlsListeners.isListening() ? null : 'listener-closed') ??
        ((await doListenersAnswer()) ? null : 'listener-silent'),
    },
    metrics: {
      // Rejects when the database does not respond.
      async measure() {
        const { activity } = stats;
        core.sessions.count();
        const [{ accounts, runs }, databaseBytes] = await Promise.all([stats.overview(), core.store.size()]);
        const { enabled, disabled, expired } = accounts;
        const { bytesUp, bytesDown, heartbeats } = activity.totals;
        return {
          build: [[version, 1]],
          accounts: Object.entries({ enabled, disabled, expired }),
          accountsOnline: core.sessions.accountCount,
          bytes: Object.entries({ up: bytesUp, down: bytesDown }),
          logins: activity.outcomes,
          heartbeats,
          pending: core.pool.pendingSize,
          dropped: core.pool.dropped,
          runs: Object.entries({ queued: runs.queued, running: runs.running }),
          databaseBytes,
          sessions: core.sessions.size,
          workers: Object.entries(plane.engines),
          listenerCertificates: [...tlsListeners.certificates()].map(([key, end]) => [key, end / 1000]),
          exitUp: [...exits.exitFigures.ways].map(([id, isUp]) => [id, Number(isUp)]),
        };
      },
      node: node.nodeName,
      metricsToken: config.metrics.token?.reveal() ?? null,
    },
  };
}

/** @throws ConfigError when the file cannot be read */
function readPicture(file: string | null): Asset | null {
  try {
    return file === null ? null : readAsset(file);
  } catch (error) {
    const text = `the file ${file} cannot be read (${codeOf(error) ?? 'unknown error'})`;
    throw configError('admin.playerPage.picture', text, error);
  }
}
