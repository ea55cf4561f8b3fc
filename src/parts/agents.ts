// Webhooks and agents.
import { enforcementHere } from '../agents/confinement/system.js';
import { createAgentGateway } from '../agents/gateway.js';
import type { Config } from '../config.js';
import { parseWhitelist } from '../core/auth/whitelist.js';
import type { Log } from '../core/log.js';
import { everyStep } from '../core/time/turns.js';
import type { PartDeps } from './core.js';
import type { PenaltiesPart } from './database/changes.js';
import { nodeNameOf } from './database/node.js';
import type { Grace } from './lifecycle.js';
import { agentFileWarnings } from './named-files.js';
import type { OperatorSettings } from './operator-settings.js';

export type AgentsPart = ReturnType<typeof createAgentsPart>;

/** Throws StartError `secret-missing`, `secret-file`. */
export function createAgentsPart(
  deps: PartDeps<'webhooks' | 'agents' | 'dataDir' | 'node' | 'database', 'store'> & {
    readonly settings: Pick<OperatorSettings, 'runRetentionMs'>;
    readonly penalties: Pick<PenaltiesPart, 'of'>;
  },
) {
  const { store } = deps.core;
  const { webhooks, agents, dataDir } = deps.config;
  const callers = parseWhitelist(webhooks.allowFrom.join(','));
  const mayCall = (source: string) => callers.ok && callers.whitelist.allows(source);
  const gateway = createAgentGateway({
    webhooks,
    agents,
    dataDir,
    runs: store.runs,
    deliveries: store.deliveries,
    sessions: store.agentSessions,
    mayCall,
    retentionMs: deps.settings.runRetentionMs,
    nodeName: nodeNameOf(deps.config),
    leaseMs: deps.config.node.leaseMs,
    isShared: deps.config.database.client === 'pg',
    wasWritten: store.watchWrites(),
    penalties: deps.penalties.of('webhook'),
    now: deps.now,
    monotonicNow: () => performance.now(),
    log: deps.log,
  });
  return {
    name: 'agents',
    handle: gateway.handle,
    control: gateway.control,
    prepareReload: gateway.prepareReload,
    /** Whether webhooks.allowFrom lists the address. */
    mayCall: (address: string): boolean =>
      webhooks.enabled && webhooks.allowFrom.length > 0 && mayCall(address),
    start() {
      warnOfAccess(deps.config, deps.log);
      return gateway.start();
    },

    // Webhooks get 503 during the drain, so that callers retry.
    drain({ ms, signal }: Grace) {
      signal.addEventListener('abort', gateway.interrupt, { once: true });
      return gateway.stop(ms);
    },

    stop: () => everyStep(() => gateway.stop(0), gateway.release),
  };
}

/** Warns of agents that reach too much, because the system enforces less, or too little, and of sockets that are missing. */
function warnOfAccess(config: Pick<Config, 'agents' | 'dataDir'>, log: Log): void {
  const hasPrograms = Object.values(config.agents).some(({ type }) => type === 'command');
  const missing = hasPrograms ? enforcementHere().missing : null;
  if (missing !== null) log.warn({ missing }, 'programs of agents are not fully confined');
  for (const { where, text } of agentFileWarnings(config)) log.warn({ where, text }, 'access of an agent');
}
