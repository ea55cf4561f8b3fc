// /api/v1 in the process of a command, on the database that the command opened: without a daemon.
import { createQueueLimit } from '../../agents/context.js';
import { createControl } from '../../agents/control.js';
import type { Intake } from '../../agents/intake.js';
import type { Config } from '../../config.js';
import { createSchedules } from '../../core/accounts/access/schedule.js';
import { createPublicAddressSetting } from '../../core/accounts/player/proxy-link.js';
import { LiveActivity } from '../../core/accounts/usage/live-activity.js';
import { NO_GEO } from '../../core/addresses/geo.js';
import { formatHostPort } from '../../core/addresses/ip.js';
import { operatorSettingsPrefix } from '../../core/auth/operator.js';
import type { Operators } from '../../core/auth/operators.js';
import { createSecondFactor, type SecondFactor } from '../../core/auth/second-factor.js';
import { ExitFigures } from '../../core/exits/exit-figures.js';
import { createRetentionSetting } from '../../core/settings/retention.js';
import { createChangeSignal } from '../../core/stats/change-signal.js';
import { nodeTimers } from '../../core/time/timers.js';
import type { Route } from '../../http/api/route.js';
import { commandCaller } from '../../http/caller.js';
import { type Call, callInProcess } from '../../http/in-process.js';
import type { Services } from '../../http/services.js';
import { operatorsOf, tokensOf } from '../auth.js';
import type { Core } from '../core.js';
import { nodeNameOf } from '../database/node.js';
import { receiversOf, retentionOf } from '../operator-settings.js';

/** The routes by the beginning of their paths. A command reads only those that it asks. */
const GROUPS = {
  '/accounts/bulk': async () => (await import('../../http/v1/accounts/bulk.js')).accountBulkRoutes,
  '/accounts/export': async () => (await import('../../http/v1/accounts/transfer.js')).accountExportRoutes,
  '/accounts/import': async () => (await import('../../http/v1/accounts/transfer.js')).accountImportRoutes,
  '/accounts': async () => [
    ...(await import('../../http/v1/accounts/accounts.js')).accountRoutes,
    ...(await import('../../http/v1/accounts/credentials.js')).credentialRoutes,
    ...(await import('../../http/v1/accounts/limits.js')).limitRoutes,
    ...(await import('../../http/v1/accounts/credentials.js')).subscriptionRoutes,
  ],
  '/agents': async () => (await import('../../http/v1/agents/agents.js')).agentRoutes,
  '/audit': async () => (await import('../../http/v1/audit.js')).auditRoutes,
  '/event-receivers': async () => (await import('../../http/v1/activity/events.js')).eventReceiverRoutes,
  '/event-deliveries': async () => (await import('../../http/v1/activity/events.js')).eventReceiverRoutes,
  '/exits': async () => (await import('../../http/v1/exits.js')).exitRoutes,
  '/heartbeats': async () => (await import('../../http/v1/activity/heartbeats.js')).heartbeatRoutes,
  '/nodes': async () => (await import('../../http/v1/nodes.js')).nodeRoutes,
  '/operators': async () => (await import('../../http/v1/people/operators.js')).operatorRoutes,
  '/runs': async () => (await import('../../http/v1/agents/runs.js')).runRoutes,
  '/settings/plans': async () => (await import('../../http/v1/settings/players.js')).planRoutes,
  '/settings/public-address': async () =>
    (await import('../../http/v1/settings/players.js')).publicAddressRoutes,
  '/settings/whitelist': async () => (await import('../../http/v1/settings/whitelist.js')).whitelistRoutes,
  '/trace': async () => (await import('../../http/v1/activity/trace.js')).traceRoutes,
  '/traffic': async () => (await import('../../http/v1/activity/traffic.js')).trafficRoutes,
  '/tokens': async () => (await import('../../http/v1/people/tokens.js')).tokenRoutes,
} satisfies Readonly<Record<string, () => Promise<readonly Route[]>>>;

/** The operations that commands call. Those of live sessions and of the caller need a daemon. */
export type Operation =
  | Awaited<ReturnType<(typeof GROUPS)[keyof typeof GROUPS]>>[number]
  | typeof import('../../http/v1/activity/sessions.js').liveSessionRoutes[number]
  | typeof import('../../http/v1/people/session.js').sessionRoutes[number];

/**
 * Returns the function that calls an operation.
 * @param user the system user, for the audit log
 * @param onError called when accounts could not be written
 */
export async function openCommandApi(
  core: Core,
  config: Config,
  user: string,
  onError: (error: unknown) => void,
) {
  const services = only<Services>(await openServices(core, config, onError));
  let loaded: Promise<void> | undefined;
  return async (call: Call) => {
    const groups = Object.keys(GROUPS) as (keyof typeof GROUPS)[];
    const group = groups.find((start) => call.path.startsWith(start));
    if (group === undefined) throw new Error(`commands do not call ${call.path}`);
    if (group.startsWith('/accounts')) {
      loaded ??= loadFigures(core, services.activity);
      await loaded;
    }
    return callInProcess(await GROUPS[group](), services, commandCaller(user), call);
  };
}

/** What the operations of commands use of a service. Its other parts throw, where an operation comes to need one. */
function only<Service extends object>(used: Partial<Service>): Service {
  const get = (from: object, name: string | symbol): unknown => {
    // A promise looks for `then` in what it resolves with.
    if (name in from || typeof name === 'symbol' || name === 'then') return Reflect.get(from, name);
    throw new Error(`the API of commands has no ${name}`);
  };
  return new Proxy(used, { get }) as Service;
}

/** Reads what accounts have used, and their traffic of today. */
async function loadFigures({ store, usage }: Core, activity: Services['activity']): Promise<void> {
  await usage.load();
  activity.load([], await store.samples.trafficSince(store.calendar.firstDay('day', Date.now()) ?? 0));
}

async function openServices(core: Core, config: Config, onError: (error: unknown) => void) {
  const { store, settings } = core;
  const now = Date.now;
  const operators = await settings.open(operatorsOf(core, now));
  const { maxTokens } = config.admin;
  const { publicHost: host, publicPort: port } = config.socks;
  const listener = formatHostPort(config.socks.host[0] ?? 'localhost', config.socks.port);
  return {
    ...core,
    operators,
    apiTokens: await settings.open(tokensOf(core, { maxTokens, now, onError: () => undefined })),
    publicAddress: await settings.open(createPublicAddressSetting(store.settings, { host, port })),
    retention: await settings.open(createRetentionSetting(store.settings, retentionOf(config))),
    now,
    audit: store.audit,
    calendar: store.calendar,
    nodes: store.nodes,
    trafficReport: store.trafficReport,
    trafficLimits: config.traffic,
    heartbeats: store.heartbeats,
    sessionRecords: store.sessionRecords,
    flushRecords: async () => undefined,
    // Those of a daemon that runs on another node, or not at all.
    liveSessions: only<Services['liveSessions']>({ find: async () => [] }),
    playerPage: config.admin.playerPage,
    configuredAddress: { host, port, hostFrom: 'file', portFrom: 'file' },
    machineProblem: () => null,
    eventReceivers: await settings.open(receiversOf(store.settings, config)),
    notices: store.notices,
    wakeNotices: () => undefined,
    testReceiver: async () => ({ ok: false, detail: 'no daemon runs', again: false }),
    testExit: async () => ({ ok: false, reason: 'no daemon runs' }),
    exitFigures: new ExitFigures(now),
    importing: new Set<string | null>(),
    uploadFolder: null,
    log: only<Services['log']>({ error: ({ err }: { err?: unknown }) => onError(err) }),
    activity: new LiveActivity(now(), store.calendar),
    schedules: createSchedules(config.timeZone),
    geo: NO_GEO,
    socks: () => [listener],
    findByLink: store.accounts.findByLink,
    reach: { servers: async () => [], exitSuffix: [] },
    node: { nodeName: nodeNameOf(config), key: '', reload: async () => undefined },
    agents: only<Services['agents']>({
      control: await openAgents(core, config),
      runs: store.runs,
      deliveries: store.deliveries,
    }),
    principals: await openSecondFactors(core, operators),
    // The database ends the sessions of a changed operator, and a daemon those from before a second factor changed.
    consoleSessions: only<Services['consoleSessions']>({ keepOnly: async () => undefined }),
    // Nobody listens in a command. A running daemon reads the changes from the database.
    changes: createChangeSignal(0, nodeTimers),
    onSettingChanged: () => undefined,
    lostAccess: () => null,
  } satisfies Partial<Services>;
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
  return only<Services['principals']>({
    reload: operators.reload,
    secondFactorOf: (id) => factors.get(id) ?? null,
  });
}

/** Queues runs for the daemon, or for its next start. */
async function openAgents({ store: { runs } }: Core, { agents, webhooks }: Config) {
  const queueLimit = createQueueLimit(webhooks.queue);
  for (const [agent, count] of await runs.countQueued())
    for (let queued = 0; queued < count; queued++) queueLimit.acquire(agent);
  const lastActive = new Map<string, number>();
  for (const name of Object.keys(agents)) {
    const at = await runs.lastActive(name);
    if (at !== null) lastActive.set(name, at);
  }
  const accept: Intake['accept'] = async ({ run, answer }) => {
    if (!queueLimit.tryAcquire(run.agent)) return { outcome: 'full' };
    const acceptedAt = Date.now();
    const stored = await runs.add(
      [{ run: { ...run, acceptedAt }, node: null, idempotency: null }],
      acceptedAt,
    );
    if (stored[0]?.outcome !== 'stored') throw new Error('the run was not stored');
    return { ...stored[0], answer: answer(stored[0].runId) };
  };
  const byName = new Map(Object.entries(agents).map(([name, settings]) => [name, { settings }]));
  const runner: Parameters<typeof createControl>[1] = { running: () => 0, cancel: async () => 'elsewhere' };
  return createControl({ webhooks, byName, lastActive, queueLimit, runs, now: Date.now }, runner, { accept });
}
