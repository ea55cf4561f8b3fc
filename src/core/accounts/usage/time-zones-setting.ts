// The time zones by which days were counted, and since when, stored as one setting. All daemons of a database follow it.
import { DAEMON } from '../../audit/audit.js';
import { createSetting, type Reloadable, refuseNone } from '../../settings/setting.js';
import type { SettingStore } from '../../settings/setting-store.js';
import type { Calendar, ZoneSince } from './calendar.js';

const KEY = 'days.timeZones';

export interface TimeZonesSetting extends Reloadable {
  /** Counts days by `zone` from `since` on, in ms since the epoch. Does nothing when they are counted by it already. */
  enter(zone: string, since: number): Promise<void>;
  /** Calls `listener` with the zone when this or another process has entered one. */
  onEntered(listener: (zone: string) => void): void;
}

/** @param calendar follows the setting */
export function createTimeZonesSetting(settings: SettingStore, calendar: Calendar): TimeZonesSetting {
  const setting = createSetting<readonly ZoneSince[]>({
    store: settings,
    key: KEY,
    initial: [],
    parse: (text) => (text === '' ? [] : (JSON.parse(text) as ZoneSince[])),
    format: (zones) => JSON.stringify(zones),
  });
  setting.onChanged((zones) => calendar.setZones(zones));
  return {
    key: KEY,
    reload: setting.reload,
    onEntered: (listener) => setting.onChanged(() => listener(calendar.zone)),

    async enter(zone, since) {
      await setting.save((zones) => {
        const before = zones.at(-1)?.zone ?? 'UTC';
        if (before === zone) return null;
        const object = { type: 'settings', id: KEY, name: 'time-zone' } as const;
        // Never before an earlier one, also when the clock was set back.
        const next = { zone, since: Math.max(since, zones.at(-1)?.since ?? since) };
        return {
          value: [...zones, next],
          audit: {
            ...{ by: DAEMON, action: 'settings.time-zone', object },
            ...{ before: { timeZone: before }, after: { timeZone: zone } },
          },
        };
      }, refuseNone);
    },
  };
}
