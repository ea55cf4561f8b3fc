// Makes what the routes of the admin API work with, from the parts of the daemon.
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../config.js';
import { createSchedules } from '../../core/accounts/access/schedule.js';
import type { Penalties } from '../../core/auth/penalties.js';
import type { Log } from '../../core/log.js';
import type { PlayerListener } from '../../core/nodes/nodes.js';
import type { RecentLog } from '../../core/stats/recent-log.js';
import { compilePattern } from '../../games-pattern.js';
import { createLostAccess } from '../../http/caller.js';
import { createAttemptsOfAll } from '../../http/guards/attempts.js';
import type { Services } from '../../http/services.js';
import { apiDocument } from '../../http/v1/openapi.js';
import { createEventStreams } from '../../http/v1/overview.js';
import { operationsOf } from '../../http/v1/routes.js';
import { readVersion } from '../../program.js';
import { openStore } from '../../store/store.js';
import type { Auth } from '../auth.js';
import type { Core } from '../core.js';
import { storeOptions } from '../database/database.js';
import type { NodePart } from '../database/node.js';
import type { SessionsPart } from '../database/sessions.js';
import type { GeoPart } from '../geo.js';
import type { HeartbeatsPart } from '../heartbeats.js';
import type { EventsPart } from '../notices/events.js';
import type { NoticesPart } from '../notices/notices.js';
import type { OperatorSettings } from '../operator-settings.js';
import type { StatsPart } from '../stats.js';

export interface ServiceParts {
  readonly config: Config;
  readonly core: Omit<Core, 'directory' | 'pool' | 'passwords' | 'settings' | 'timeZones'>;
  readonly auth: Auth;
  readonly settings: OperatorSettings;
  readonly exits: Pick<Services, 'machineProblem' | 'testExit' | 'exitFigures'>;
  readonly stats: Pick<StatsPart, 'activity' | 'heartbeatSums' | 'history' | 'overview' | 'changes'>;
  readonly liveSessions: Pick<SessionsPart, 'live'>;
  readonly heartbeats: Pick<HeartbeatsPart, 'write'>;
  readonly geo: Pick<GeoPart, 'geo'>;
  readonly node: Pick<NodePart, 'nodeName' | 'key' | 'reload'>;
  readonly notices: Pick<NoticesPart, 'confirmations' | 'preview' | 'test' | 'wake'>;
  readonly events: Pick<EventsPart, 'test'>;
  readonly agents: Pick<Services['agents'], 'control'>;
  readonly penalties: Pick<Penalties, 'of'>;
  readonly log: Log;
  readonly recentLog: RecentLog;
  readonly listeners: {
    readonly addresses: readonly string[];
    readonly listeners: readonly PlayerListener[];
  };
  readonly startedAt: number;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** In [0, 1): varies the delay after a refused login. */
  readonly random: () => number;
}

export function createServices(parts: ServiceParts): Services {
  const { config, core, auth, settings, stats, notices, log, now } = parts;
  const { admin, timeZone } = config;
  const { store } = core;
  const { changes, overview } = stats;
  const lostAccess = createLostAccess({ ...auth, whitelist: core.whitelist });
  return {
    ...core,
    ...settings,
    liveSessions: parts.liveSessions.live,
    activity: stats.activity,
    schedules: createSchedules(timeZone),
    geo: parts.geo.geo,
    calendar: store.calendar,
    timeZone,
    maxAuthorizedAddresses: config.socks.maxAuthorizedAddresses,
    uploadFolder: config.dataDir,
    importing: new Set(),
    requestKeys: { store: store.runs, ...admin.idempotency },
    maxImportBytes: admin.maxImportBytes,
    confirmations: notices.confirmations,
    playerPage: admin.playerPage,
    findByLink: store.accounts.findByLink,
    reach: {
      async servers(own) {
        const { nodeName } = parts.node;
        const others = (await store.nodes.list()).flatMap(({ name, state, addresses: { players } }) =>
          name !== nodeName && state === 'serving' && players ? [{ name, ...players }] : [],
        );
        return [{ name: nodeName, ...own, listeners: parts.listeners.listeners }, ...others];
      },
      exitSuffix: config.socks.exitSuffix,
    },
    logins: store.logins,
    sessionRecords: store.sessionRecords,
    flushRecords: parts.heartbeats.write,
    trafficReport: store.trafficReport,
    trafficLimits: config.traffic,
    heartbeats: store.heartbeats,
    heartbeatSums: stats.heartbeatSums,
    heartbeatIntervalMs: config.heartbeats.intervalMs,
    overview,
    history: stats.history,
    agents: {
      control: parts.agents.control,
      runs: store.runs,
      deliveries: store.deliveries,
      sessions: store.agentSessions,
    },
    nodes: store.nodes,
    node: parts.node,
    notices: store.notices,
    testReceiver: parts.events.test,
    wakeNotices: notices.wake,
    testNotice: notices.test,
    previewNotices: notices.preview,
    ...auth,
    lostAccess,
    ...createAttemptsOfAll(
      {
        ...admin.attempts,
        maxDelayedPerSource: admin.maxDelayedPerSource,
        random: parts.random,
        now: parts.monotonicNow,
        log,
      },
      parts.penalties,
    ),
    ...parts.exits,
    compilePattern,
    socks: () => parts.listeners.addresses,
    backup: createBackup(config),
    about: {
      version: readVersion(),
      startedAt: new Date(parts.startedAt).toISOString(),
      webhooksEnabled: config.webhooks.enabled,
      egressClasses: Object.keys(config.egress.classes),
    },
    audit: store.audit,
    changes,
    onSettingChanged() {
      changes.notify('settings');
      changes.notify('audit');
    },
    events: createEventStreams({
      overview,
      changes,
      maxEventStreams: admin.maxEventStreams,
      mayStillWatch: (caller) => lostAccess(caller) === null,
    }),
    operationsOf,
    document: apiDocument,
    log,
    recentLog: parts.recentLog,
    now,
  };
}

/** A fixed name, so that the next backup removes the file that an interrupted one left. */
const FILE = 'backup-download.tmp';

/**
 * @returns a function that makes a backup and returns its bytes; 'busy' while another backup runs, 'not-a-file' with PostgreSQL.
 *   It rejects with the error of the database or the disk. It unlinks the file before reading, so that no file remains.
 */
export function createBackup(
  config: Pick<Config, 'dataDir' | 'database'>,
): () => Promise<Readable | 'busy' | 'not-a-file'> {
  const path = join(config.dataDir, FILE);
  let isBusy = false;
  return async () => {
    if (config.database.client === 'pg') return 'not-a-file';
    if (isBusy) return 'busy';
    isBusy = true;
    try {
      await rm(path, { force: true });
      // A separate connection, so that changes and heartbeats can be written during the backup.
      const store = await openStore({ ...storeOptions(config), mayCreate: false });
      await store.backup(path).finally(() => store.close());
      const handle = await open(path, 'r');
      await rm(path);
      return handle.createReadStream();
    } finally {
      isBusy = false;
    }
  };
}
