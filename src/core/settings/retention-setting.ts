// How long things are kept: what the configuration file says, until an operator saves something else.

import { type Actor, DAEMON, differences } from '../audit/audit.js';
import { createTurns } from '../turns.js';
import type { SettingStore } from './setting-store.js';

/** Where it is kept, as JSON; a change by another process calls for `reload`. */
export const RETENTION_KEY = 'retention';

/** Whole days, and entries. */
export interface Retention {
  readonly heartbeatDays: number;
  readonly heartbeatsPerAccount: number;
  readonly runDays: number;
  readonly loginDays: number;
  readonly auditDays: number;
}

export interface RetentionSetting {
  current(): Retention;
  /** The names of the values that were saved here and differ from the file's. */
  saved(): ReadonlySet<keyof Retention>;
  save(retention: Retention, by: Actor): Promise<void>;
  reload(): Promise<void>;
}

export function createRetentionSetting({
  settings,
  ofFile,
}: {
  settings: SettingStore;
  ofFile: Retention;
}): RetentionSetting {
  let current = ofFile;
  const inTurn = createTurns();
  return {
    current: () => current,
    saved: () =>
      new Set((Object.keys(ofFile) as (keyof Retention)[]).filter((name) => current[name] !== ofFile[name])),

    save: (retention, by = DAEMON) =>
      inTurn(RETENTION_KEY, async () => {
        const { before, after, differs } = differences({ ...current }, { ...retention });
        if (!differs) return;
        await settings.set(RETENTION_KEY, JSON.stringify(retention), {
          by,
          action: 'settings.retention',
          object: { type: 'settings', id: RETENTION_KEY, name: 'retention' },
          before,
          after,
        });
        current = retention;
      }),

    reload: () =>
      inTurn(RETENTION_KEY, async () => {
        const text = (await settings.get(RETENTION_KEY)) ?? '';
        current = text === '' ? ofFile : { ...ofFile, ...(JSON.parse(text) as Partial<Retention>) };
      }),
  };
}
