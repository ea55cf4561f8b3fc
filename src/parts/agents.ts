// Webhooks and agents.
import { createHooks, type Hooks } from '../agents/hooks.js';
import type { Config } from '../config.js';
import { parseWhitelist } from '../core/auth/whitelist.js';
import { everyStep } from '../core/every-step.js';
import type { Log } from '../core/log.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';
import { nodeNameOf } from './node.js';
import type { PenaltiesPart } from './penalties.js';
import type { OperatorSettings } from './settings.js';

export interface AgentsPart extends Part, Pick<Hooks, 'handle' | 'control' | 'prepareReload'> {
  /** Whether webhooks.allowFrom lists the address. */
  mayCall(address: string): boolean;
}

/** Throws StartError `secret-missing`, `secret-file`. */
export function createAgentsPart(deps: {
  readonly config: Pick<Config, 'webhooks' | 'agents' | 'dataDir' | 'node' | 'database'>;
  readonly core: Pick<Core, 'store'>;
  readonly settings: Pick<OperatorSettings, 'runRetentionMs'>;
  readonly penalties: Pick<PenaltiesPart, 'of'>;
  readonly log: Log;
  readonly now: () => number;
}): AgentsPart {
  const { store } = deps.core;
  const { webhooks, agents, dataDir } = deps.config;
  const callers = parseWhitelist(webhooks.allowFrom.join(','));
  const mayCall = (source: string) => callers.ok && callers.whitelist.allows(source);
  const hooks = createHooks({
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
    penalties: deps.penalties.of('webhook'),
    now: deps.now,
    monotonicNow: () => performance.now(),
    log: deps.log,
  });
  return {
    name: 'agents',
    handle: hooks.handle,
    control: hooks.control,
    prepareReload: hooks.prepareReload,
    mayCall: (address) => webhooks.enabled && webhooks.allowFrom.length > 0 && mayCall(address),
    start: hooks.start,

    // Webhooks get 503 during the drain, so that callers retry.
    drain({ ms, signal }) {
      signal.addEventListener('abort', hooks.interrupt, { once: true });
      return hooks.stop(ms);
    },

    stop: () => everyStep(() => hooks.stop(0), hooks.release),
  };
}
