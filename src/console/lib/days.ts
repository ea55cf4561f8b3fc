// Days of the daemon's time zone, for traffic reports.
import { href } from './router.js';

/** The day so many days before today, as `2026-11-24`. */
export function dayBefore(days: number, timeZone: string): string {
  const today = new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now());
  return new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
}

/** The address of the report of one day. @param daysAgo 1: yesterday */
export function trafficOfDay(daysAgo: number, timeZone = 'UTC'): string {
  const day = dayBefore(daysAgo, timeZone);
  return href(['traffic'], { from: day, until: day });
}
