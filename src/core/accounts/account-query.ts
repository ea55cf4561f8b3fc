// An account with its heartbeats, as lists show it; and the search among all accounts.
import { DAY_MS } from '../time/clock.js';
import { includesAddress } from './access/address-list.js';
import { type Account, isExpired, isSuspended } from './account.js';
import type { AccountPool } from './account-writes.js';
import type { AccountDirectory } from './directory.js';

/** An account with figures from the heartbeat pool. */
export interface AccountView {
  readonly account: Account;
  /** Number of entries in the pool. */
  readonly dataCount: number;
  /** GameID of the newest entry that has one. */
  readonly latestGameId: string | null;
}

export type AccountViews = ReturnType<typeof createAccountViews>;

export function createAccountViews(
  directory: AccountDirectory,
  pool: Pick<AccountPool, 'count' | 'latestGameId'>,
) {
  const view = (account: Account): AccountView => ({
    account,
    dataCount: pool.count(account.id),
    latestGameId: pool.latestGameId(account.id),
  });
  const found = (account: Account | undefined): AccountView | null => (account ? view(account) : null);

  return {
    count: (): number => directory.size,
    /** Every account in the order of creation. */
    list: (): AccountView[] => Array.from(directory.all(), view),
    get: (id: string): AccountView | null => found(directory.byId(id)),
    getByUsername: (username: string): AccountView | null => found(directory.byUsername(username)),
    /** Whether any account has the user name, also one that `getByUsername` does not know. */
    hasUsername: (username: string): boolean => directory.byUsername(username) !== undefined,
    hasId: (id: string): boolean => directory.byId(id) !== undefined,
  };
}

/** All defined filters must match; `/api/v1/accounts` says what each means. */
type AccountFilter = {
  readonly [Name in TextFilter]?: string | undefined;
} & {
  readonly [Name in 'online' | 'enabled' | 'expired' | 'suspended' | 'neverUsed' | 'overQuota']?:
    | boolean
    | undefined;
} & {
  /** Of the expiry; `from` and `before` in milliseconds since the epoch. */
  readonly [Name in 'expiringWithinDays' | 'expiresFrom' | 'expiresBefore']?: number | undefined;
};

type TextFilter = 'search' | 'username' | 'tag' | 'game' | 'authorizedAddress' | 'plan' | 'exit' | 'owner';

/** Facts about an account that are not stored with it. */
export interface AccountFacts {
  isOnline(accountId: string): boolean;
  isOverQuota(account: Account): boolean;
}

/** The value of `owner` for accounts of the administrator. */
export const NO_OWNER = 'none';

type Test = (view: AccountView) => boolean;

/** Creates the predicate for a filter; cheap tests come first. */
export function accountMatcher(filter: AccountFilter, facts: AccountFacts, now: number): Test {
  const tests: Test[] = [];
  /** Fields that the filter does not have test nothing. */
  function add<Value>(wanted: Value | undefined, test: (view: AccountView, wanted: Value) => boolean): void {
    if (wanted !== undefined) tests.push((view) => test(view, wanted));
  }
  add(filter.username, ({ account }, name) => account.username === name);
  add(filter.enabled, ({ account }, wanted) => account.isEnabled === wanted);
  add(filter.expired, ({ account }, wanted) => isExpired(account, now) === wanted);
  add(filter.suspended, ({ account }, wanted) => isSuspended(account, now) === wanted);
  add(filter.neverUsed, ({ account }, wanted) => (account.lastLoginAt === null) === wanted);
  add(filter.expiringWithinDays, ({ account }, days) => expiresIn(account, now + 1, now + days * DAY_MS + 1));
  add(filter.expiresFrom, ({ account }, from) => expiresIn(account, from, Infinity));
  add(filter.expiresBefore, ({ account }, before) => expiresIn(account, -Infinity, before));
  add(filter.owner, ({ account }, owner) => (account.owner ?? NO_OWNER) === owner);
  add(filter.plan, ({ account }, plan) => account.plan === plan);
  add(filter.exit, ({ account }, exit) => account.exit === exit);
  for (const tag of filter.tag?.split(',') ?? []) add(tag, ({ account }) => account.tags.includes(tag));
  add(filter.game, ({ latestGameId }, game) => latestGameId === game);
  add(filter.authorizedAddress, ({ account }, address) =>
    includesAddress(account.authorizedAddresses, address),
  );
  add(filter.online, ({ account }, wanted) => facts.isOnline(account.id) === wanted);
  add(filter.overQuota, ({ account }, wanted) => facts.isOverQuota(account) === wanted);
  for (const word of filter.search?.toLowerCase().split(/\s+/) ?? []) add(word || undefined, containsText);
  return (view) => tests.every((test) => test(view));
}

/** From `from` on, and before `before`, in ms; an account that never expires is in no range. */
function expiresIn({ expiresAt }: Account, from: number, before: number): boolean {
  return expiresAt !== null && expiresAt >= from && expiresAt < before;
}

/** @param wanted in lower case */
function containsText({ account, latestGameId }: AccountView, wanted: string): boolean {
  return (
    account.username.toLowerCase().includes(wanted) ||
    account.remarks?.toLowerCase().includes(wanted) === true ||
    account.tags.some((tag) => tag.toLowerCase().includes(wanted)) ||
    latestGameId?.toLowerCase().includes(wanted) === true ||
    account.contacts.email?.toLowerCase().includes(wanted) === true ||
    account.contacts.telegram?.toLowerCase().includes(wanted) === true ||
    account.id === wanted
  );
}
