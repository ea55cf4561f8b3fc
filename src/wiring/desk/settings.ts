// The settings that the console may change beside the configuration: game rules and retention, and what is in force.

import type { Config, Loaded } from '../../config.js';
import {
  createPublicAddressSetting,
  PUBLIC_ADDRESS_KEY,
  type PublicAddressSetting,
} from '../../core/accounts/public-address-setting.js';
import {
  createGameRulesSetting,
  GAME_RULES_KEY,
  type GameRulesSetting,
} from '../../core/heartbeats/game-rules-setting.js';
import type { HeartbeatRetention } from '../../core/heartbeats/heartbeat.js';
import type { HeartbeatPool } from '../../core/heartbeats/heartbeat-pool.js';
import {
  createRetentionSetting,
  RETENTION_KEY,
  type RetentionSetting,
} from '../../core/settings/retention-setting.js';
import { compilePattern } from '../../games-pattern.js';
import type { PublicAddressUses } from '../../http/v1/public-address.js';
import type { Effective } from '../../http/v1/settings-handlers.js';
import type { Store } from '../../store/store.js';

/** Where the configuration comes from, as the settings page shows it. */
export type ConfigSource = Pick<Loaded, 'file' | 'effective'>;

export interface DeskSettings {
  readonly gameRules: GameRulesSetting;
  readonly retention: RetentionSetting;
  readonly publicAddress: PublicAddressSetting;
  readonly configuredAddress: PublicAddressUses['configuredAddress'];
  /** What holds now, whoever has set it. */
  readonly heartbeatRetention: HeartbeatRetention;
  readonly webhooks: Config['webhooks'];
  /** The whole configuration in force, for the settings page. */
  effective(): Promise<Effective>;
  /** Takes in a setting that another process changed; one that is kept elsewhere is passed over. */
  reload(key: string): Promise<void>;
}

/** Where the configuration has what the settings page calls by these names. */
const RETENTION_PATHS = {
  heartbeatDays: 'heartbeats.retention.days',
  heartbeatsPerAccount: 'heartbeats.retention.perAccount',
  runDays: 'webhooks.retention',
  loginDays: 'admin.logins.days',
  auditDays: 'admin.audit.days',
} as const;

const DAY_MS = 86_400_000;

/** Rejects when the database cannot be read. */
export async function openSettings(uses: {
  readonly config: Config;
  readonly source: ConfigSource;
  readonly store: Pick<Store, 'settings' | 'size'>;
  readonly pool: HeartbeatPool;
  readonly startedAt: number;
}): Promise<DeskSettings> {
  const { config, source, store, pool } = uses;
  const gameRules = createGameRulesSetting({
    settings: store.settings,
    fileRules: config.heartbeats.games,
    compile: compilePattern,
  });
  await gameRules.reload();

  const retention = createRetentionSetting({
    settings: store.settings,
    ofFile: {
      heartbeatDays: config.heartbeats.retention.days,
      heartbeatsPerAccount: config.heartbeats.retention.perAccount,
      runDays: Math.max(1, Math.round(config.webhooks.retentionMs / DAY_MS)),
      loginDays: config.admin.logins.days,
      auditDays: config.admin.audit.days,
    },
  });
  await retention.reload();

  const { publicHost, publicPort } = config.socks;
  const publicAddress = createPublicAddressSetting({
    settings: store.settings,
    ofFile: { host: publicHost, port: publicPort },
  });
  await publicAddress.reload();
  const sourceOf = (path: string) =>
    source.effective.find((entry) => entry.path === path)?.source ?? 'default';

  /** What the console has changed, by its path in the configuration. */
  function changedHere(): Map<string, string> {
    const changed = new Map<string, string>();
    if (gameRules.source() === 'console') {
      changed.set('heartbeats.games', `${gameRules.rules().length} rules`);
    }
    const { host, port } = publicAddress.saved();
    if (host !== null) changed.set('socks.publicHost', host);
    if (port !== null) changed.set('socks.publicPort', String(port));
    const saved = retention.saved();
    for (const [name, path] of Object.entries(RETENTION_PATHS)) {
      const key = name as keyof typeof RETENTION_PATHS;
      const value = retention.current()[key];
      if (saved.has(key)) changed.set(path, key === 'runDays' ? `${value}d` : String(value));
    }
    return changed;
  }

  return {
    gameRules,
    retention,
    publicAddress,
    configuredAddress: {
      host: publicHost,
      hostFrom: sourceOf('socks.publicHost'),
      port: publicPort,
      portFrom: sourceOf('socks.publicPort'),
    },
    heartbeatRetention: {
      get maxAgeMs() {
        return retention.current().heartbeatDays * DAY_MS;
      },
      get maxPerAccount() {
        return retention.current().heartbeatsPerAccount;
      },
    },
    webhooks: {
      ...config.webhooks,
      get retentionMs() {
        return retention.saved().has('runDays')
          ? retention.current().runDays * DAY_MS
          : config.webhooks.retentionMs;
      },
    },

    async effective() {
      const changed = changedHere();
      return {
        configFile: source.file,
        entries: source.effective.map((entry) => {
          const value = changed.get(entry.path);
          return value === undefined ? entry : { ...entry, value, source: 'console' };
        }),
        database: {
          client: config.database.client,
          bytes: await store.size(),
          heartbeats: pool.size,
        },
        startedAt: new Date(uses.startedAt).toISOString(),
      };
    },

    async reload(key) {
      if (key === GAME_RULES_KEY) await gameRules.reload();
      if (key === RETENTION_KEY) await retention.reload();
      if (key === PUBLIC_ADDRESS_KEY) await publicAddress.reload();
    },
  };
}
