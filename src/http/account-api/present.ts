// The responses of the account API: exactly the fields of its specification, in their order and spelling.
import { isExpired } from '../../core/accounts/account.js';
import type { AccountView } from '../../core/accounts/account-views.js';
import { formatWireDate } from '../../core/wire-date.js';

/** The Account object of GetProxyAccountList and GetProxyAccountByID. */
export function presentAccount({ account, dataCount, latestGameId }: AccountView) {
  return {
    AID: account.id,
    Username: account.username,
    IsEnabled: account.isEnabled,
    Remarks: account.remarks,
    CreatedAt: formatWireDate(account.createdAt),
    LastLoginAt: dateOrNull(account.lastLoginAt),
    ExpiresAt: dateOrNull(account.expiresAt),
    DataCount: dataCount,
    LatestGameId: latestGameId,
  };
}

/** The current user view of GetCurrentUser: no AID, no Remarks. `now` in milliseconds since the epoch. */
export function presentCurrentUser({ account, dataCount, latestGameId }: AccountView, now: number) {
  return {
    Username: account.username,
    IsEnabled: account.isEnabled,
    CreatedAt: formatWireDate(account.createdAt),
    LastLoginAt: dateOrNull(account.lastLoginAt),
    ExpiresAt: dateOrNull(account.expiresAt),
    IsExpired: isExpired(account, now),
    DataCount: dataCount,
    LatestGameId: latestGameId,
  };
}

function dateOrNull(ms: number | null): string | null {
  return ms === null ? null : formatWireDate(ms);
}
