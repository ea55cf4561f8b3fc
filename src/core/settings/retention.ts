// The retention setting: the values of the configuration file, until an operator saves others.
import { type Actor, DAEMON, differences } from '../audit/audit.js';
import { createSetting, type Reloadable } from './setting.js';
import type { SettingStore } from './setting-store.js';

export const RETENTION_KEY = 'retention';

/** Whole days, and entries. */
export interface Retention {
  readonly heartbeatDays: number;
  readonly heartbeatsPerAccount: number;
  readonly runDays: number;
  readonly loginDays: number;
  readonly auditDays: number;
}

export interface RetentionSetting extends Reloadable {
  current(): Retention;
  /** The names of the values that an operator saved and that differ from the configuration file. */
  saved(): ReadonlySet<keyof Retention>;
  save(retention: Retention, by: Actor): Promise<void>;
  onChanged(listener: (retention: Retention) => void): void;
}

export function createRetentionSetting({
  settings,
  ofFile,
}: {
  settings: SettingStore;
  ofFile: Retention;
}): RetentionSetting {
  const setting = createSetting<Retention>({
    store: settings,
    key: RETENTION_KEY,
    initial: ofFile,
    parse: (text) => (text === '' ? ofFile : { ...ofFile, ...(JSON.parse(text) as Partial<Retention>) }),
    format: (retention) => JSON.stringify(retention),
  });
  return {
    key: RETENTION_KEY,
    reload: setting.reload,
    current: setting.value,
    saved() {
      const names = Object.keys(ofFile) as (keyof Retention)[];
      return new Set(names.filter((name) => setting.value()[name] !== ofFile[name]));
    },

    save: (retention, by = DAEMON) =>
      setting.change(async ({ write }) => {
        const { before, after, differs } = differences({ ...setting.value() }, { ...retention });
        if (!differs) return;
        await write(retention, {
          by,
          action: 'settings.retention',
          object: { type: 'settings', id: RETENTION_KEY, name: 'retention' },
          before,
          after,
        });
      }),

    onChanged: setting.onChanged,
  };
}
