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
  /** A client address that may use the account without credentials. */
  readonly authorizedAddress?: string | undefined;
  /** Id of the seller that it belongs to. */
  readonly owner?: string | undefined;
}

/** Facts about an account that are not stored with it. */
export interface AccountFacts {
  isOnline(accountId: string): boolean;
  isOverQuota(account: Account): boolean;
}

type Test = (view: AccountView) => boolean;

/** Creates the predicate for a filter; cheap tests come first. */
export function accountMatcher(filter: AccountFilter, facts: AccountFacts, now: number): Test {
  const tests = [
    ...when(
      filter.enabled,
      (wanted) =>
        ({ account }) =>
          account.isEnabled === wanted,
    ),
    ...when(
      filter.expired,
      (wanted) =>
        ({ account }) =>
          isExpired(account, now) === wanted,
    ),
    ...when(
      filter.neverUsed,
      (wanted) =>
        ({ account }) =>
          (account.lastLoginAt === null) === wanted,
    ),
    ...when(filter.expiringWithinDays, (days) => expiresIn(now + 1, now + days * DAY_MS + 1)),
    ...when(filter.expiresFrom, (from) => expiresIn(from, Infinity)),
    ...when(filter.expiresBefore, (before) => expiresIn(-Infinity, before)),
    ...when(
      filter.owner,
      (owner) =>
        ({ account }) =>
          account.owner === owner,
    ),
    ...when(
      filter.tag,
      (tag) =>
        ({ account }) =>
          account.tags.includes(tag),
    ),
    ...when(
      filter.game,
      (game) =>
        ({ latestGameId }) =>
          latestGameId === game,
    ),
    ...when(
      filter.authorizedAddress,
      (address) =>
        ({ account }) =>
          includesAddress(account.authorizedAddresses, address),
    ),
    ...when(
      filter.online,
      (wanted) =>
        ({ account }) =>
          facts.isOnline(account.id) === wanted,
    ),
    ...when(
      filter.overQuota,
      (wanted) =>
        ({ account }) =>
          facts.isOverQuota(account) === wanted,
    ),
    ...when(filter.search?.toLowerCase() || undefined, containsText),
  ];
  return (view) => tests.every((test) => test(view));
}

function when<Value>(value: Value | undefined, test: (value: Value) => Test): Test[] {
  return value === undefined ? [] : [test(value)];
}

/** From `from` on, and before `before`, in ms; excludes accounts that never expire. */
const expiresIn =
  (from: number, before: number): Test =>
  ({ account: { expiresAt } }) =>
    expiresAt !== null && expiresAt >= from && expiresAt < before;

/** @param wanted in lower case */
const containsText =
  (wanted: string): Test =>
  ({ account, latestGameId }) =>
    account.username.toLowerCase().includes(wanted) ||
    account.remarks?.toLowerCase().includes(wanted) === true ||
    account.tags.some((tag) => tag.toLowerCase().includes(wanted)) ||
    latestGameId?.toLowerCase().includes(wanted) === true ||
    account.id === wanted;
