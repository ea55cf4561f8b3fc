// How /api/v1 shows an account.
import { type Account, isExpired } from '../../../core/accounts/account.js';
import type { LimitsView } from '../../../core/accounts/account-limits.js';
import type { AccountView } from '../../../core/accounts/accounts.js';
import type { AccountLimits } from '../../../core/accounts/limits.js';
import { etagOf } from '../etag.js';
import { iso, isoOrNull } from '../times.js';

export function presentAccount(
  { account, dataCount, latestGameId }: AccountView,
  { limits, usage }: LimitsView,
  today: { readonly up: number; readonly down: number },
  now: number,
): Record<string, unknown> {
  return {
    id: account.id,
    username: account.username,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    createdAt: iso(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    expiresAt: isoOrNull(account.expiresAt),
    isExpired: isExpired(account, now),
    dataCount,
    latestGameId,
    todayBytesUp: today.up,
    todayBytesDown: today.down,
    limits,
    usage: presentUsage(usage),
    etag: accountEtag(account, limits),
  };
}

export function presentUsage({ periodStartedAt, periodEndsAt, ...counts }: LimitsView['usage']) {
  return {
    ...counts,
    periodStartedAt: isoOrNull(periodStartedAt),
    periodEndsAt: isoOrNull(periodEndsAt),
  };
}

/** Changes with what an operator sets, not with logins and traffic. */
export function accountEtag(account: Account, limits: AccountLimits): string {
  const { isEnabled, remarks, expiresAt } = account;
  return etagOf([isEnabled, remarks, expiresAt, limits]);
}
