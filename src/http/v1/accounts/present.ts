// How /api/v1 shows an account.

import type { Schedules } from '../../../core/accounts/access/schedule.js';
import { type Account, isExpired } from '../../../core/accounts/account.js';
import type { AccountView } from '../../../core/accounts/account-views.js';
import type { LimitUsage } from '../../../core/accounts/usage/limits.js';
import { iso, isoOrNull } from '../../../core/clock.js';
import { etagOf } from '../../api/etag.js';

export function presentAccount(
  view: AccountView,
  usage: LimitUsage,
  today: { readonly up: number; readonly down: number },
  now: number,
  owner: { readonly id: string; readonly name: string } | null,
  schedules: Schedules,
): Record<string, unknown> {
  const { account } = view;
  return {
    ...presentFields(view, now),
    todayBytesUp: today.up,
    todayBytesDown: today.down,
    ...presentSchedule(account, schedules, now),
    owner,
    limits: account.limits,
    usage: presentUsage(usage),
    etag: accountEtag(account),
  };
}

/** What the command line shows of an account too. */
export function presentFields({ account, dataCount, latestGameId }: AccountView, now: number) {
  return {
    id: account.id,
    username: account.username,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    tags: account.tags,
    createdAt: iso(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    expiresAt: isoOrNull(account.expiresAt),
    isExpired: isExpired(account, now),
    daysFromFirstLogin: account.daysFromFirstLogin,
    plan: account.plan,
    dataCount,
    latestGameId,
    authorizedAddresses: account.authorizedAddresses,
    allowedClients: account.allowedClients,
    schedule: account.schedule,
    contacts: account.contacts,
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

export function presentUsage({ periodStartedAt, periodEndsAt, ...counts }: LimitUsage) {
  return {
    ...counts,
    periodStartedAt: isoOrNull(periodStartedAt),
    periodEndsAt: isoOrNull(periodEndsAt),
  };
}

/** Changes with the settings of an operator, but not with logins and traffic. */
export function accountEtag({ limits, authorizedAddresses, allowedClients, ...account }: Account): string {
  const { username, isEnabled, remarks, tags, expiresAt, daysFromFirstLogin, plan } = account;
  const own = [username, isEnabled, remarks, tags, expiresAt, daysFromFirstLogin, plan, account.owner];
  return etagOf([...own, limits, authorizedAddresses, allowedClients, account.schedule, account.contacts]);
}
