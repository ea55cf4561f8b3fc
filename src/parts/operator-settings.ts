// The settings that the console can change in addition to the configuration: game rules, retention, public address.
import { type Config, ConfigError, type Loaded, loadConfig } from '../config.js';
import { createPublicAddressSetting } from '../core/accounts/player/proxy-link.js';
import { tryOr } from '../core/errors.js';
import { createGameRulesSetting } from '../core/heartbeats/game-rules.js';
import { EVENT_NAMES } from '../core/notices/event-types.js';
import {
  createNoticesSetting,
  NOTICE_DEFAULTS,
  type NoticeSettings,
} from '../core/notices/notice-settings.js';
import { CONFIGURED_RECEIVER_ID, createEventReceivers } from '../core/notices/receivers.js';
import { createRetentionSetting, type Retention } from '../core/settings/retention.js';
import type { SettingStore } from '../core/settings/setting.js';
import { DAY_MS } from '../core/time/clock.js';
import { once } from '../core/time/turns.js';
import { compilePattern } from '../games-pattern.js';
import type { Effective } from '../http/v1/settings/data.js';
import { isOld, readBuild, readVersion } from '../program.js';
import type { Core } from './core.js';
import { databaseName } from './database/database.js';

/** The sources of the configuration, for the settings page. */
export interface ConfigSource extends Pick<Loaded, 'file' | 'effective'> {
  /** Reads the configuration again and returns the changed keys that need a restart. Rejects with ConfigError. */
  readonly needsRestart?: () => Promise<readonly string[]>;
}

const RETENTION_PATHS = {
  heartbeatDays: 'heartbeats.retention.days',
  heartbeatsPerAccount: 'heartbeats.retention.perAccount',
  sessionDays: 'trace.retention.days',
  runDays: 'webhooks.retention',
  loginDays: 'admin.logins.days',
  auditDays: 'admin.audit.days',
} as const;

export const retentionOf = ({ heartbeats, trace, webhooks, admin }: Config): Retention => ({
  heartbeatDays: heartbeats.retention.days,
  heartbeatsPerAccount: heartbeats.retention.perAccount,
  sessionDays: trace.retention.days,
  runDays: Math.max(1, Math.round(webhooks.retentionMs / DAY_MS)),
  loginDays: admin.logins.days,
  auditDays: admin.audit.days,
});

/** The receivers of events. Until an operator saves others, `notices.url` of the configuration gets all but sessions. */
export function receiversOf(store: SettingStore, { notices: { url, secret }, events }: Config) {
  const types = EVENT_NAMES.filter((name) => !name.startsWith('session.'));
  const of = { id: CONFIGURED_RECEIVER_ID, owner: null, types, isEnabled: true, createdAt: 0 };
  const ofFile = url === null ? [] : [{ ...of, url, secret: secret?.reveal() ?? null }];
  return createEventReceivers(store, ofFile, events.maxReceivers);
}

export type OperatorSettings = Awaited<ReturnType<typeof openSettings>>;

/** Reads the settings. Rejects when the database cannot be read. */
export async function openSettings(deps: {
  readonly config: Config;
  readonly source: ConfigSource;
  readonly core: Pick<Core, 'store' | 'settings' | 'pool'>;
  readonly startedAt: number;
}) {
  const { config, source } = deps;
  const { store, settings, pool } = deps.core;
  const gameRules = await settings.open(
    createGameRulesSetting(store.settings, config.heartbeats.games, compilePattern),
  );
  const retention = await settings.open(createRetentionSetting(store.settings, retentionOf(config)));
  pool.setMaxPerAccount(retention.current().heartbeatsPerAccount);
  retention.onChanged(({ heartbeatsPerAccount }) => pool.setMaxPerAccount(heartbeatsPerAccount));

  const { publicHost, publicPort } = config.socks;
  const publicAddress = await settings.open(
    createPublicAddressSetting(store.settings, { host: publicHost, port: publicPort }),
  );
  const ofFile = config.notices;
  const noticesSetting = await settings.open(
    createNoticesSetting(store.settings, {
      ...NOTICE_DEFAULTS,
      timeZone: config.timeZone,
      expiryDays: ofFile.expiryDays,
      quotaPercent: ofFile.quotaPercent,
      digestHour: ofFile.digestHour,
    }),
  );
  const eventReceivers = await settings.open(receiversOf(store.settings, config));
  const configured = source.effective();
  const sourceOf = (path: string) => configured.find((entry) => entry.path === path)?.source ?? 'default';

  const withoutConfiguration = once(() => loadConfig({ env: {}, defaultFiles: [] }));

  const running = { version: readVersion(), build: readBuild() };

  /** The values that the console has changed, by configuration key. */
  function changedInConsole(): Map<string, string> {
    const changed = new Map<string, string>();
    const { source, rules } = gameRules.inForce();
    if (source === 'console') changed.set('heartbeats.games', `${rules.length} rules`);
    const { host, port } = publicAddress.saved();
    if (host !== null) changed.set('socks.publicHost', host);
    if (port !== null) changed.set('socks.publicPort', String(port));
    for (const [path, value] of changedNotices(noticesSetting.current(), ofFile)) changed.set(path, value);
    for (const key of retention.saved())
      changed.set(RETENTION_PATHS[key], `${retention.current()[key]}${key === 'runDays' ? 'd' : ''}`);
    return changed;
  }

  return {
    gameRules,
    retention,
    publicAddress,
    noticesSetting,
    eventReceivers,
    configuredAddress: {
      host: publicHost,
      hostFrom: sourceOf('socks.publicHost'),
      port: publicPort,
      portFrom: sourceOf('socks.publicPort'),
    },
    /** The current values, from the console or the configuration. */
    heartbeatRetention: {
      get maxAgeMs() {
        return retention.current().heartbeatDays * DAY_MS;
      },
      get maxPerAccount() {
        return retention.current().heartbeatsPerAccount;
      },
    },
    runRetentionMs: (): number =>
      retention.saved().has('runDays') ? retention.current().runDays * DAY_MS : config.webhooks.retentionMs,

    async effective(): Promise<Effective> {
      const changed = changedInConsole();
      const defaults = (await withoutConfiguration()).effective();
      const standard = new Map(defaults.map(({ path, value }) => [path, value]));
      return {
        program: programNow(running),
        configFile: source.file,
        entries: configured.map((entry) => {
          const value = changed.get(entry.path);
          const now = value === undefined ? entry : ({ ...entry, value, source: 'console' } as const);
          return { ...now, default: standard.get(entry.path) ?? '' };
        }),
        database: { client: databaseName(config), bytes: await store.size(), heartbeats: pool.size },
        startedAt: new Date(deps.startedAt).toISOString(),
        ...(await changedSinceStart(source)),
      };
    },
  };
}

/**
 * The versions of the running and of the installed program.
 * @param running as read at the start, because an upgrade replaces the files of the running program
 */
function programNow(running: Pick<Effective['program'], 'version' | 'build'>): Effective['program'] {
  const { version, build } = running;
  // It cannot be read while the files are being replaced.
  const installedVersion = tryOr(version, readVersion);
  return { version, installedVersion, build, isOld: build !== null && isOld(build, Date.now()) };
}

async function changedSinceStart(source: ConfigSource): Promise<Pick<Effective, 'needsRestart' | 'problem'>> {
  try {
    return { needsRestart: [...((await source.needsRestart?.()) ?? [])], problem: null };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { needsRestart: [], problem: error.message };
  }
}

/** The configuration keys of notices whose values an operator has changed, with the new values. */
function changedNotices(now: NoticeSettings, ofFile: Config['notices']): [string, string][] {
  const names = ['expiryDays', 'quotaPercent', 'digestHour'] as const;
  return names
    .filter((name) => JSON.stringify(now[name]) !== JSON.stringify(ofFile[name]))
    .map((name) => [`notices.${name}`, JSON.stringify(now[name])]);
}
