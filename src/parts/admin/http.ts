import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { endianness } from 'node:os';
import { join } from 'node:path';
import type { TlsPair } from '../../config.js';
import { addressesOf } from '../../core/exits/exit.js';
import type { ExitsSetting } from '../../core/exits/exits-setting.js';
import { type Endpoint, type IpBytes, parseIp, unmap } from '../../core/ip.js';
import { createIsOwnOutbound } from '../../core/sessions/outbound.js';
import type { IsOwnOutbound } from '../../http/guards/client.js';
import type { ControlAccess, RestartControl } from '../../http/plain-routes.js';
import { type AdminServerOptions, createAdminServer } from '../../http/server.js';
import { PROGRAM_FOLDER, readVersion } from '../../program.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import { createIsLocalAddress } from '../../proxy/worker/local-addresses.js';
import type { AgentsPart } from '../agents.js';
import { handleFor } from '../callers.js';
import { adminConnections } from '../capacity.js';
import type { Core } from '../core.js';
import type { NodePart } from '../database/node.js';
import type { PlanePart } from '../players/plane.js';
import type { TlsListenersPart } from '../players/tls-listeners.js';
import type { StatsPart } from '../stats.js';
import { createListenerCheck } from './listener-check.js';
import { createServices, type ServiceParts } from './services.js';

/** What the admin API measures and reports of the other parts. */
export interface ObservedParts extends Pick<ServiceParts, 'config' | 'listeners' | 'exits'> {
  readonly core: Pick<Core, 'store' | 'pool' | 'sessions'>;
  readonly stats: Pick<StatsPart, 'activity' | 'overview'>;
  readonly node: Pick<NodePart, 'nodeName' | 'problem'>;
  readonly plane: Pick<PlanePart['plane'], 'engines' | 'isListening'>;
  readonly tlsListeners: Pick<TlsListenersPart, 'certificates' | 'isListening'>;
  /** The current problem of the database; null: none. */
  readonly problem: () => Promise<string | null>;
}

export type HttpPart = ReturnType<typeof createHttpPart>;

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
    ...observe(deps, () => isStopping),
    consoleFolder: join(PROGRAM_FOLDER, 'dist/console'),
    playerFolder: join(PROGRAM_FOLDER, 'dist/player'),
    handleHook: agents.handle,
    mayCallHooks: agents.mayCall,
    tls,
    handshakeTimeoutMs: admin.tls.handshakeTimeoutMs,
    handleFor,
    isOwnOutbound: ownOutboundCheck(plane, deps.core.exits),
    settle: () => plane.settle(),
    trustedProxies: admin.trustedProxies,
    allowedHosts: admin.allowedHosts,
    maxBodyBytes: admin.maxBodyBytes,
    maxBulkBodyBytes: admin.maxBulkBodyBytes,
    accountForm: admin.accountForm,
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

/** The health and the metrics of the daemon. */
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
        (plane.isListening && tlsListeners.isListening() ? null : 'listener-closed') ??
        ((await doListenersAnswer()) ? null : 'listener-silent'),
    },
    metrics: {
      // Rejects when the database does not respond.
      async measure() {
        const { activity } = stats;
        core.sessions.count();
        const [{ accounts, runs }, databaseBytes] = await Promise.all([stats.overview(), core.store.size()]);
        return {
          version,
          node: node.nodeName,
          sessions: core.sessions.size,
          workers: plane.engines,
          accountsOnline: core.sessions.accountCount,
          accounts: { enabled: accounts.enabled, disabled: accounts.disabled, expired: accounts.expired },
          bytesUp: activity.totals.bytesUp,
          bytesDown: activity.totals.bytesDown,
          logins: activity.outcomes,
          heartbeats: activity.totals.heartbeats,
          heartbeatsPending: core.pool.pendingSize,
          heartbeatsDropped: core.pool.dropped,
          runs: { queued: runs.queued, running: runs.running },
          databaseBytes,
          listenerCertificates: tlsListeners.certificates(),
          exitWays: exits.exitFigures.ways,
        };
      },
      metricsToken: config.metrics.token?.reveal() ?? null,
    },
  };
}

export function ownOutboundCheck(
  plane: Pick<ProxyPlane, 'ownPorts' | 'findOutbound'>,
  exits: Pick<ExitsSetting, 'current' | 'onChanged'>,
): IsOwnOutbound {
  const isLocalAddress = createIsLocalAddress(() => performance.now());
  // Those of networks are on no interface.
  let isOfExit = addressesOf(exits.current());
  exits.onChanged((changed) => {
    isOfExit = addressesOf(changed);
  });
  return createIsOwnOutbound({
    hasPort: (port) => plane.ownPorts.has('tcp-outbound', port),
    isLocal(address) {
      const ip = parseIp(address);
      return ip !== null && (isLocalAddress(unmap(ip)) || isOfExit(unmap(ip)));
    },
    remotesOf: ({ address, port }) => plane.findOutbound(address, port),
    isConnected: isConnectedHere,
  });
}

/** The tables of this process's network namespace. The path contains `self` because systemd's ProcSubset= hides /proc/net. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Returns whether a socket on this machine is connected from `local` to `remote` (both unmapped); null where the system has no such
 * table, as outside Linux. Each call reads the whole table, so call it rarely.
 */
export async function isConnectedHere(local: Endpoint, remote: Endpoint): Promise<boolean | null> {
  const rows = rowsOf(local, remote);
  try {
    const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1')));
    return tables.some((table) => rows.some((row) => table.includes(row)));
  } catch {
    return null;
  }
}

/** Returns the table's text of a socket, as an IPv4 socket and as an IPv6 socket. */
function rowsOf(local: Endpoint, remote: Endpoint): string[] {
  const ips = [parseIp(local.address), parseIp(remote.address)];
  const [from, to] = ips.map((ip) => ip && unmap(ip));
  if (!from || !to) return [];
  const forms =
    from.length === 4
      ? [(ip: IpBytes) => ip, (ip: IpBytes) => [...MAPPED_PREFIX, ...ip]]
      : [(ip: IpBytes) => ip];
  return forms.map((form) => ` ${endText(form(from), local.port)} ${endText(form(to), remote.port)} `);
}

/** `0100007F:1F90`: each 32-bit word of the address in this machine's byte order, then the port. */
function endText(address: ArrayLike<number>, port: number): string {
  const bytes = Buffer.from(Array.from(address));
  if (endianness() === 'LE') bytes.swap32();
  const hex = (value: string): string => value.toUpperCase();
  return `${hex(bytes.toString('hex'))}:${hex(port.toString(16).padStart(4, '0'))}`;
}
