// The retention setting: the values of the configuration file, until an operator saves others.
import { type Actor, differences } from '../audit/audit.js';
import { createSetting, type Refuse, type Reloadable, refuseNone } from './setting.js';
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
  /** Saves the values, unless `refuse` returns a refusal for the stored ones, which it then returns. */
  save<Refusal = never>(
    retention: Retention,
    by: Actor,
    refuse?: Refuse<Retention, Refusal>,
  ): Promise<Refusal | null>;
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

    save: (value, by, refuse = refuseNone) =>
      setting.save((stored) => {
        const { before, after, differs } = differences({ ...stored }, { ...value });
        if (!differs) return null;
        const object = { type: 'settings', id: RETENTION_KEY, name: 'retention' } as const;
        return { value, audit: { by, action: 'settings.retention', object, before, after } };
      }, refuse),

    onChanged: setting.onChanged,
  };
}
