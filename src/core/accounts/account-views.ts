// Reads accounts from memory, each with its figures from the heartbeat pool.
import type { Account } from './account.js';
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

export interface AccountViews {
  /** Every account in the order of creation. */
  list(): AccountView[];
  count(): number;
  get(id: string): AccountView | null;
  getByUsername(username: string): AccountView | null;
  /** Whether any account has the user name, also one that `getByUsername` does not know. */
  hasUsername(username: string): boolean;
  hasId(id: string): boolean;
}

export function createAccountViews(
  directory: AccountDirectory,
  pool: Pick<AccountPool, 'count' | 'latestGameId'>,
): AccountViews {
  const view = (account: Account): AccountView => ({
    account,
    dataCount: pool.count(account.id),
    latestGameId: pool.latestGameId(account.id),
  });
  const found = (account: Account | undefined): AccountView | null => (account ? view(account) : null);

  return {
    count: () => directory.size,
    list: () => Array.from(directory.all(), view),
    get: (id) => found(directory.byId(id)),
    getByUsername: (username) => found(directory.byUsername(username)),
    hasUsername: (username) => directory.byUsername(username) !== undefined,
    hasId: (id) => directory.byId(id) !== undefined,
  };
}
