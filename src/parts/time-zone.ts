// Counts days by the time zone of the configuration from this start on.
import type { Config } from '../config.js';
import type { Log } from '../core/log.js';
import type { Core } from './core.js';

/** All daemons of a database count by the zone of the one that started last; the others say so. */
export async function enterTimeZone({
  config: { timeZone },
  core: { timeZones, directory },
  log,
  now,
}: {
  readonly config: Pick<Config, 'timeZone'>;
  readonly core: Pick<Core, 'timeZones' | 'directory'>;
  readonly log: Log;
  readonly now: () => number;
}): Promise<void> {
  // A new database has no other days.
  await timeZones.enter(timeZone, directory.size === 0 ? 0 : now());
  timeZones.onEntered((daysIn) => {
    if (daysIn !== timeZone)
      log.warn({ timeZone, daysIn }, 'days are counted in the time zone of another node');
  });
}
