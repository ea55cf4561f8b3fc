// The retention setting: the values of the configuration file, until an operator saves others.
import { createReplacedSetting, type Reloadable, type Replace } from './setting.js';
import type { SettingStore } from './setting-store.js';

const RETENTION_KEY = 'retention';

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
  readonly save: Replace<Retention>;
  onChanged(listener: (retention: Retention) => void): void;
}

export function createRetentionSetting({
  settings,
  ofFile,
}: {
  settings: SettingStore;
  ofFile: Retention;
}): RetentionSetting {
  const setting = createReplacedSetting<Retention>({
    store: settings,
    key: RETENTION_KEY,
    name: 'retention',
    shown: (retention) => ({ ...retention }),
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

    save: setting.replace,
    onChanged: setting.onChanged,
  };
}
