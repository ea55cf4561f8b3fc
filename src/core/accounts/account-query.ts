// Searches and filters accounts in memory.
import { DAY_MS } from '../clock.js';
import { type Account, isExpired } from './account.js';
import type { AccountView } from './account-views.js';
import { includesAddress } from './address-list.js';

/** All defined filters must match. */
export interface AccountFilter {
  /** Text in user name, remarks, tags or latest GameID, ignoring case; or a complete GUID. */
  readonly search?: string | undefined;
  readonly online?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly expired?: boolean | undefined;
  readonly expiringWithinDays?: number | undefined;
  /** Expires at this time or later, in milliseconds since the epoch; excludes accounts that never expire. */
  readonly expiresFrom?: number | undefined;
  /** Expires before this time. */
  readonly expiresBefore?: number | undefined;
  readonly neverUsed?: boolean | undefined;
  readonly overQuota?: boolean | undefined;
  /** One of its tags, exactly. */
  readonly tag?: string | undefined;
  /** Latest GameID, exactly. */
  readonly game?: string | undefined;
  /** A client address that is the account without credentials. */
  readonly authorizedAddress?: string | undefined;
  /** Id of the seller that it belongs to. */
  readonly owner?: string | undefined;
}

/** Facts about an account that are not stored with it. */
export interface AccountFacts {
  isOnline(accountId: string): boolean;
  isOverQuota(account: Account): boolean;
}

/** Creates the predicate for a filter; cheap tests come first. */
export function accountMatcher(
  filter: AccountFilter,
  facts: AccountFacts,
  now: number,
): (view: AccountView) => boolean {
  const wanted = filter.search?.toLowerCase() ?? '';
  const until = filter.expiringWithinDays === undefined ? null : now + filter.expiringWithinDays * DAY_MS;
  const isBounded = filter.expiresFrom !== undefined || filter.expiresBefore !== undefined;
  return ({ account, latestGameId }) => {
    if (filter.enabled !== undefined && account.isEnabled !== filter.enabled) return false;
    if (filter.expired !== undefined && isExpired(account, now) !== filter.expired) return false;
    if (filter.neverUsed !== undefined && (account.lastLoginAt === null) !== filter.neverUsed) return false;
    if (until !== null) {
      const { expiresAt } = account;
      if (expiresAt === null || expiresAt <= now || expiresAt > until) return false;
    }
    if (isBounded) {
      const { expiresAt } = account;
      if (expiresAt === null) return false;
      if (expiresAt < (filter.expiresFrom ?? -Infinity)) return false;
      if (expiresAt >= (filter.expiresBefore ?? Infinity)) return false;
    }
    if (filter.owner !== undefined && account.owner !== filter.owner) return false;
    if (filter.tag !== undefined && !account.tags.includes(filter.tag)) return false;
    if (filter.game !== undefined && latestGameId !== filter.game) return false;
    if (filter.authorizedAddress !== undefined) {
      if (!includesAddress(account.authorizedAddresses, filter.authorizedAddress)) return false;
    }
    if (filter.online !== undefined && facts.isOnline(account.id) !== filter.online) return false;
    if (filter.overQuota !== undefined && facts.isOverQuota(account) !== filter.overQuota) return false;
    if (wanted === '') return true;
    return (
      account.username.toLowerCase().includes(wanted) ||
      account.remarks?.toLowerCase().includes(wanted) === true ||
      account.tags.some((tag) => tag.toLowerCase().includes(wanted)) ||
      latestGameId?.toLowerCase().includes(wanted) === true ||
      account.id === wanted
    );
  };
}
