// The retention setting: the values of the configuration file, until an operator saves others.
import { differences } from '../audit/audit.js';
import { createAuditedSetting, type SettingStore } from './setting.js';

/** Whole days, and entries. */
export interface Retention {
  readonly heartbeatDays: number;
  readonly heartbeatsPerAccount: number;
  /** 0: sessions are not recorded. */
  readonly sessionDays: number;
  readonly runDays: number;
  readonly loginDays: number;
  readonly auditDays: number;
}

export type RetentionSetting = ReturnType<typeof createRetentionSetting>;

export function createRetentionSetting(store: SettingStore, ofFile: Retention) {
  const setting = createAuditedSetting<Retention>({
    store,
    key: 'retention',
    name: 'retention',
    initial: ofFile,
    parse: (text) => (text === '' ? ofFile : { ...ofFile, ...(JSON.parse(text) as Partial<Retention>) }),
    audited: (before, after) => differences({ ...before }, { ...after }),
  });
  return {
    ...setting,
    /** The names of the values that an operator saved and that differ from the configuration file. */
    saved(): ReadonlySet<keyof Retention> {
      const names = Object.keys(ofFile) as (keyof Retention)[];
      return new Set(names.filter((name) => setting.current()[name] !== ofFile[name]));
    },
  };
}
