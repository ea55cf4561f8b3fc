// How /api/v1 shows an account.
import type { Schedules } from '../../../core/accounts/access/schedule.js';
import { type Account, isExpired } from '../../../core/accounts/account.js';
import type { AccountView } from '../../../core/accounts/account-views.js';
import { fieldsOf } from '../../../core/accounts/fields/account-fields.js';
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
  const {
    isEnabled,
    remarks,
    tags,
    expiresAt,
    daysFromFirstLogin,
    plan,
    owner: _,
    ...fields
  } = fieldsOf(account);
  return {
    id: account.id,
    username: account.username,
    isEnabled,
    remarks,
    tags,
    createdAt: iso(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    expiresAt: isoOrNull(expiresAt),
    isExpired: isExpired(account, now),
    daysFromFirstLogin,
    plan,
    dataCount,
    latestGameId,
    ...fields,
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
  return { ...counts, periodStartedAt: isoOrNull(periodStartedAt), periodEndsAt: isoOrNull(periodEndsAt) };
}

/** Changes with the settings of an operator, but not with logins and traffic. */
export function accountEtag(account: Account): string {
  const { isEnabled, remarks, tags, expiresAt, daysFromFirstLogin, plan, owner, ...fields } =
    fieldsOf(account);
  const own = [account.username, isEnabled, remarks, tags, expiresAt, daysFromFirstLogin, plan, owner];
  return etagOf([...own, account.limits, ...Object.values(fields), account.contacts]);
}
