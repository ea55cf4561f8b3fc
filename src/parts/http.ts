// The admin API: one HTTP server for account API, /api/v1, webhooks and console. Its listeners are separate parts.
import type { X509Certificate } from 'node:crypto';
import type { TlsPair } from '../config.js';
import { type AdminServer, createAdminServer } from '../http/server.js';
import type { AgentsPart } from './agents.js';
import { type AdminApiParts, adminApiDeps } from './api.js';
import { handleFor } from './callers.js';
import { adminConnections } from './capacity.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';
import { ownOutboundCheck } from './own-outbound.js';
import type { PenaltiesPart } from './penalties.js';
import type { ProxyPart } from './proxy.js';

export interface HttpPart
  extends Part,
    Pick<AdminServer, 'createHttpServer' | 'createControlServer' | 'setTls'> {
  /** The certificate at the start; null for plain HTTP. */
  readonly certificate: X509Certificate | null;
}

export function createHttpPart(
  deps: Omit<AdminApiParts, 'plane' | 'isStopping'> & {
    readonly core: Core;
    readonly plane: ProxyPart['plane'];
    readonly agents: AgentsPart;
    readonly penalties: PenaltiesPart;
    readonly tls: TlsPair | null;
  },
): HttpPart {
  const { config, core, plane, agents, penalties, tls, log, now } = deps;
  const { admin } = config;
  let isStopping = false;
  const server = createAdminServer({
    ...adminApiDeps({ ...deps, isStopping: () => isStopping }),
    handleHook: agents.handle,
    mayCallHooks: agents.mayCall,
    agents: {
      control: agents.control,
      runs: core.store.runs,
      deliveries: core.store.deliveries,
      sessions: core.store.agentSessions,
    },
    accounts: core.accounts,
    whitelist: core.whitelist,
    credentials: core.credentials,
    tls,
    handshakeTimeoutMs: admin.tls.handshakeTimeoutMs,
    handleFor,
    isOwnOutbound: ownOutboundCheck(plane),
    settle: () => plane.settle(),
    trustedProxies: admin.trustedProxies,
    allowedHosts: admin.allowedHosts,
    maxBodyBytes: admin.maxBodyBytes,
    accountForm: admin.accountForm ? { zone: config.timeZone } : null,
    connections: adminConnections(config),
    attempts: admin.attempts,
    penalties,
    maxDelayedPerSource: admin.maxDelayedPerSource,
    now,
    monotonicNow: () => performance.now(),
    random: Math.random,
    log,
  });
  return {
    name: 'admin API',
    certificate: tls?.certificate ?? null,
    createHttpServer: server.createHttpServer,
    createControlServer: server.createControlServer,
    setTls: server.setTls,
    drain() {
      isStopping = true;
    },
    stop: () => server.close(),
  };
}
