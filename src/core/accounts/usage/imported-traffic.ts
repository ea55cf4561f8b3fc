// The usage that an imported account brings along from another server.
import type { Account } from '../account.js';
import type { Calendar } from './calendar.js';
import type { CountedTraffic, TrafficOfDay } from './limits.js';

/**
 * Converts the usage of another server into traffic per day: the usage of the period counts as today's traffic, the rest as traffic
 * of the day before the period.
 */
export function trafficOf(
  { id: accountId, limits }: Pick<Account, 'id' | 'limits'>,
  used: CountedTraffic | undefined,
  at: number,
  calendar: Calendar,
): readonly TrafficOfDay[] {
  if (!used) return [];
  const { totalBytesUp, totalBytesDown, periodBytes } = used;
  const total = totalBytesUp + totalBytesDown;
  if (total === 0) return [];
  const ofPeriod = Math.min(periodBytes, total);
  const periodUp = Math.min(ofPeriod, totalBytesUp);
  const periodDown = ofPeriod - periodUp;
  const today = calendar.dayOf(at);
  const first = calendar.firstDay(limits.quotaPeriod, at) ?? today;
  const bytesUp = totalBytesUp - periodUp;
  const bytesDown = totalBytesDown - periodDown;
  return [
    { accountId, day: today, bytesUp: periodUp, bytesDown: periodDown, sessions: 0 },
    { accountId, day: calendar.dayOf(calendar.startOfDay(first) - 1), bytesUp, bytesDown, sessions: 0 },
  ];
}
