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
