// Collects the dependencies of /api/v1 and the console, except those of accounts and agents.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import { spooled } from '../account-files/spool.js';
import type { Config } from '../config.js';
import { createSchedules } from '../core/accounts/access/schedule.js';
import type { Log } from '../core/log.js';
import type { RecentLog } from '../core/recent-log.js';
import { compilePattern } from '../games-pattern.js';
import type { AdminServerDeps } from '../http/server.js';
import { PROGRAM_FOLDER, readVersion } from '../program.js';
import type { Auth } from './auth.js';
import { createBackup } from './backup.js';
import type { Core } from './core.js';
import { createListenerCheck } from './listener-check.js';
import { createMeasure } from './metrics.js';
import type { NodePart } from './node.js';
import type { NoticesPart } from './notices.js';
import type { SessionsPart } from './sessions.js';
import type { OperatorSettings } from './settings.js';
import type { StatsPart } from './stats.js';
import type { TlsListenersPart } from './tls-listeners.js';

export interface AdminApiParts {
  readonly config: Config;
  readonly core: Pick<
    Core,
    'store' | 'directory' | 'accounts' | 'usage' | 'sessions' | 'plans' | 'playerLinks' | 'pac' | 'pool'
  >;
  readonly auth: Auth;
  readonly settings: OperatorSettings;
  readonly stats: StatsPart;
  readonly liveSessions: Pick<SessionsPart, 'live'>;
  readonly node: Pick<NodePart, 'nodeName' | 'key' | 'reload' | 'problem'>;
  readonly notices: Pick<NoticesPart, 'confirmations' | 'preview' | 'test' | 'wake'>;
  readonly log: Log;
  readonly recentLog: RecentLog;
  /** The current problem of the database; null: none. */
  readonly problem: () => Promise<string | null>;
  readonly isStopping: () => boolean;
  readonly plane: {
    readonly engines: Readonly<Record<'native' | 'node', number>>;
    readonly isListening: boolean;
  };
  /** The players' listeners. */
  readonly listeners: { readonly addresses: readonly string[] };
  readonly tlsListeners: Pick<TlsListenersPart, 'certificates' | 'isListening'>;
  readonly startedAt: number;
  readonly now: () => number;
}

const CONSOLE_FOLDER = join(PROGRAM_FOLDER, 'dist/console');
const PLAYER_FOLDER = join(PROGRAM_FOLDER, 'dist/player');

export function adminApiDeps(
  deps: AdminApiParts,
): Pick<AdminServerDeps, 'api' | 'health' | 'metrics' | 'consoleFolder' | 'playerFolder'> {
  const { config, core, settings, stats, node, log, now } = deps;
  const { store, pool, usage, sessions } = core;
  const version = readVersion();
  const { plane, tlsListeners } = deps;
  const stopping = () => (deps.isStopping() ? 'stopping' : null);
  const isListening = () => plane.isListening && tlsListeners.isListening();
  const doListenersAnswer = createListenerCheck(() => deps.listeners.addresses);
  const playersTrouble = async () =>
    stopping() ??
    node.problem() ??
    (isListening() ? null : 'listener-closed') ??
    ((await doListenersAnswer()) ? null : 'listener-silent');
  return {
    api: {
      ...deps.auth,
      audit: store.audit,
      recentLog: deps.recentLog,
      usage,
      sessions,
      liveSessions: deps.liveSessions.live,
      activity: stats.activity,
      logins: store.logins,
      nodes: store.nodes,
      node,
      heartbeats: store.heartbeats,
      heartbeatSums: stats.heartbeatSums,
      heartbeatIntervalMs: config.heartbeats.intervalMs,
      history: stats.history,
      overview: stats.overview,
      changes: stats.changes,
      maxEventStreams: config.admin.maxEventStreams,
      maxBulkBodyBytes: config.admin.maxBulkBodyBytes,
      exportAccounts: (format, views, options) => {
        const withUsage = function* () {
          for (const view of views) yield { view, usage: usage.lastView(view.account) };
        };
        return writeAccounts(format, withUsage(), options);
      },
      importAccounts: (format, input, options) =>
        spooled(config.dataDir, input, (file) =>
          importAccounts(readAccounts(format, file, options), {
            ...options,
            audit: store.audit,
            now,
            newId: randomUUID,
            onError: (err) => log.error({ err }, 'writing imported accounts failed'),
          }),
        ),
      maxImportBytes: config.admin.maxImportBytes,
      plans: core.plans,
      playerLinks: core.playerLinks,
      pac: core.pac,
      pacListeners: pacListeners(config),
      playerPage: config.admin.playerPage,
      maxAuthorizedAddresses: config.socks.maxAuthorizedAddresses,
      schedules: createSchedules(config.timeZone),
      timeZone: config.timeZone,
      calendar: store.calendar,
      notices: store.notices,
      noticesSetting: settings.notices,
      wakeNotices: deps.notices.wake,
      testNotice: deps.notices.test,
      previewNotices: deps.notices.preview,
      confirmations: deps.notices.confirmations,
      gameRules: settings.gameRules,
      compilePattern,
      retention: settings.retention,
      publicAddress: settings.publicAddress,
      configuredAddress: settings.configuredAddress,
      effective: settings.effective,
      backup: createBackup(config),
      about: () => ({
        version,
        startedAt: deps.startedAt,
        socks: deps.listeners.addresses,
        heartbeatIntervalMs: config.heartbeats.intervalMs,
        webhooksEnabled: config.webhooks.enabled,
        maxImportBytes: config.admin.maxImportBytes,
        egressClasses: Object.keys(config.egress.classes),
        timeZone: config.timeZone,
      }),
    },
    health: {
      async trouble() {
        const problem = stopping() ?? (await deps.problem());
        if (problem === null) await store.ping();
        return problem;
      },
      playersTrouble,
    },
    metrics: {
      measure: createMeasure({
        version,
        node: node.nodeName,
        core: { store, pool },
        sessions,
        engines: () => plane.engines,
        listenerCertificates: () => tlsListeners.certificates(),
        stats,
      }),
      metricsToken: config.metrics.token?.reveal() ?? null,
    },
    consoleFolder: CONSOLE_FOLDER,
    playerFolder: PLAYER_FOLDER,
  };
}

/** The protocols and ports of the players' listeners, for PAC files. Omits listeners on a free port (0), which a file cannot name. */
function pacListeners({ socks: { protocols, listeners } }: Config) {
  const httpsPorts = listeners.flatMap((listener) => {
    const isHttps = listener.tls !== undefined && (listener.protocols ?? protocols).includes('http');
    return isHttps && listener.port ? [listener.port] : [];
  });
  return { protocols, httpsPorts };
}
