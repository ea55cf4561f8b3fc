// /api/v1 in the process of a command, on the database that the command opened: without a daemon.
import type { Server } from 'node:http';
import type { Config } from '../../config.js';
import { createSchedules } from '../../core/accounts/access/schedule.js';
import { createPublicAddressSetting } from '../../core/accounts/player/proxy-link.js';
import { LiveActivity } from '../../core/accounts/usage/live-activity.js';
import { operatorSettingsPrefix } from '../../core/auth/operator.js';
import type { Operators } from '../../core/auth/operators.js';
import { createSecondFactor, type SecondFactor } from '../../core/auth/second-factor.js';
import { formatHostPort } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import { createChangeSignal } from '../../core/stats/change-signal.js';
import { nodeTimers } from '../../core/timers.js';
import type { Route } from '../../http/api/route.js';
import { createCommandServer } from '../../http/control.js';
import type { Services } from '../../http/services.js';
import { operatorsOf, tokensOf } from '../auth.js';
import type { Core } from '../core.js';
import { nodeNameOf } from '../database/node.js';

/** The routes by the beginning of their paths. A command reads only those that it asks. */
const GROUPS = {
  '/accounts': async () => [
    ...(await import('../../http/v1/accounts/accounts.js')).accountRoutes,
    ...(await import('../../http/v1/accounts/limits.js')).limitRoutes,
  ],
  '/audit': async () => (await import('../../http/v1/audit.js')).auditRoutes,
  '/nodes': async () => (await import('../../http/v1/nodes.js')).nodeRoutes,
  '/operators': async () => (await import('../../http/v1/operators.js')).operatorRoutes,
  '/settings/plans': async () => (await import('../../http/v1/settings/plans.js')).planRoutes,
  '/settings/whitelist': async () => (await import('../../http/v1/settings/whitelist.js')).whitelistRoutes,
  '/tokens': async () => (await import('../../http/v1/tokens.js')).tokenRoutes,
} satisfies Readonly<Record<string, () => Promise<readonly Route[]>>>;

/** The operations that commands call. Those of live sessions and of the caller need a daemon. */
export type Operation =
  | Awaited<ReturnType<(typeof GROUPS)[keyof typeof GROUPS]>>[number]
  | typeof import('../../http/v1/activity/sessions.js').liveSessionRoutes[number]
  | typeof import('../../http/v1/session.js').sessionRoutes[number];

/** Returns the server that answers a path below /api/v1. @param log receives what failed */
export function createCommandApi(core: Core, config: Config, log: Log): (path: string) => Promise<Server> {
  const servers = new Map<string, Promise<Server>>();
  const services = openServices(core, config, log);
  async function open(group: keyof typeof GROUPS): Promise<Server> {
    if (group === '/accounts') await core.usage.load();
    return createCommandServer(await GROUPS[group](), await services, config.admin);
  }
  return (path) => {
    const group = (Object.keys(GROUPS) as (keyof typeof GROUPS)[]).find((start) => path.startsWith(start));
    if (group === undefined) throw new Error(`commands do not ask ${path}`);
    const server = servers.get(group) ?? open(group);
    servers.set(group, server);
    return server;
  };
}

async function openServices(core: Core, config: Config, log: Log): Promise<Services> {
  const { store, accounts, usage, sessions, plans, whitelist } = core;
  const now = Date.now;
  const operators = operatorsOf(core, now);
  await operators.reload();
  const apiTokens = tokensOf(core, { maxTokens: config.admin.maxTokens, now, onError: () => undefined });
  await apiTokens.reload();
  const { publicHost: host, publicPort: port } = config.socks;
  const publicAddress = createPublicAddressSetting({ settings: store.settings, ofFile: { host, port } });
  await publicAddress.reload();
  const listener = formatHostPort(config.socks.host[0] ?? 'localhost', config.socks.port);
  const services = {
    ...{ accounts, usage, sessions, plans, whitelist, operators, apiTokens, publicAddress, log, now },
    ...{ audit: store.audit, calendar: store.calendar, nodes: store.nodes },
    activity: new LiveActivity(now(), store.calendar),
    schedules: createSchedules(config.timeZone),
    socks: () => [listener],
    node: { nodeName: nodeNameOf(config), key: '', reload: async () => undefined },
    principals: await openSecondFactors(core, operators),
    // The database ends the sessions of a changed operator, and a daemon those from before a second factor changed.
    consoleSessions: { keepOnly: async () => undefined },
    // Nobody listens in a command. A running daemon reads the changes from the database.
    changes: createChangeSignal(0, nodeTimers),
    onSettingChanged: () => undefined,
    refuseNow: () => null,
  };
  // The operations of commands use no others.
  return services as Partial<Record<keyof Services, unknown>> as Services;
}

/** Without keys: a command reads no secret, and only the daemon encrypts those of older versions. */
async function openSecondFactors({ store: { settings } }: Core, operators: Operators) {
  const factors = new Map<string, SecondFactor>();
  for (const { id, name } of operators.list()) {
    const [prefix, object] = [operatorSettingsPrefix(id), { type: 'operator', id, name } as const];
    const factor = createSecondFactor({ settings, now: Date.now, prefix, object });
    await factor.reload();
    factors.set(id, factor);
  }
  return { reload: operators.reload, secondFactorOf: (id: string) => factors.get(id) ?? null };
}
