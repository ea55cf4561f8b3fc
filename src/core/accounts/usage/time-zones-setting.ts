// The time zones by which days were counted, and since when, stored as one setting. All daemons of a database follow it.
import { DAEMON, differences } from '../../audit/audit.js';
import { createAuditedSetting, type Reloadable } from '../../settings/setting.js';
import type { SettingStore } from '../../settings/setting-store.js';
import type { Calendar, ZoneSince } from './calendar.js';

export interface TimeZonesSetting extends Reloadable {
  /** Counts days by `zone` from `since` on, in ms since the epoch. Does nothing when they are counted by it already. */
  enter(zone: string, since: number): Promise<void>;
  /** Calls `listener` with the zone when this or another process has entered one. */
  onEntered(listener: (zone: string) => void): void;
}

/** @param calendar follows the setting */
export function createTimeZonesSetting(settings: SettingStore, calendar: Calendar): TimeZonesSetting {
  const zoneOf = (zones: readonly ZoneSince[]) => zones.at(-1)?.zone ?? 'UTC';
  const setting = createAuditedSetting<readonly ZoneSince[]>({
    store: settings,
    key: 'days.timeZones',
    name: 'time-zone',
    initial: [],
    audited: (before, after) => differences({ timeZone: zoneOf(before) }, { timeZone: zoneOf(after) }),
  });
  setting.onChanged((zones) => calendar.setZones(zones));
  return {
    key: setting.key,
    reload: setting.reload,
    onEntered: (listener) => setting.onChanged(() => listener(calendar.zone)),

    async enter(zone, since) {
      // Never before an earlier one, also when the clock was set back.
      const next = (zones: readonly ZoneSince[]) => ({
        zone,
        since: Math.max(since, zones.at(-1)?.since ?? since),
      });
      await setting.save((zones) => [...zones, next(zones)], DAEMON);
    },
  };
}
