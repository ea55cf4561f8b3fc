// How /api/v1 shows an account.
import type { Schedules } from '../../../core/accounts/access/schedule.js';
import { type Account, isExpired, isSuspended } from '../../../core/accounts/account.js';
import type { AccountView } from '../../../core/accounts/account-query.js';
import { fieldsOf } from '../../../core/accounts/fields/account-fields.js';
import type { LimitUsage } from '../../../core/accounts/usage/limits.js';
import { iso, isoOrNull, withTimes } from '../../../core/clock.js';
import { etagOf } from '../../api/route.js';

export function presentAccount(
  view: AccountView,
  usage: LimitUsage,
  today: { readonly up: number; readonly down: number },
  now: number,
  owner: { readonly id: string; readonly name: string } | null,
  schedules: Schedules,
): Record<string, unknown> {
  const { account, dataCount, latestGameId } = view;
  const fields = fieldsOf(account);
  const suspended = isSuspended(account, now);
  return {
    id: account.id,
    username: account.username,
    createdAt: iso(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    ...fields,
    expiresAt: isoOrNull(account.expiresAt),
    isExpired: isExpired(account, now),
    suspendedUntil: suspended ? isoOrNull(account.suspendedUntil) : null,
    suspendReason: suspended ? account.suspendReason : null,
    dataCount,
    latestGameId,
    contacts: account.contacts,
    todayBytesUp: today.up,
    todayBytesDown: today.down,
    ...presentSchedule(account, schedules, now),
    owner,
    limits: account.limits,
    usage: presentUsage(usage),
    // Computed when it is read: the tables of commands show no tags.
    get etag() {
      return accountEtag(account, fields);
    },
  };
}

/** The schedule and what it says of the present time. */
export function presentSchedule({ schedule }: Pick<Account, 'schedule'>, schedules: Schedules, now: number) {
  return {
    schedule,
    isOutsideSchedule: !schedules.isOpen(schedule, now),
    scheduleChangesAt: isoOrNull(schedules.nextChange(schedule, now)),
  };
}

export const presentUsage = (usage: LimitUsage) => withTimes(usage, 'periodStartedAt', 'periodEndsAt');

/** Changes with the settings of an operator, but not with logins and traffic. */
export function accountEtag(account: Account, fields = fieldsOf(account)): string {
  return etagOf([account.username, fields, account.limits, account.contacts]);
}
