// Single accounts of a store, for tests: the store itself reads and writes many at once.
import type { Account } from '../../src/core/accounts/account.js';
import { type AccountChange, changed } from '../../src/core/accounts/account-input.js';
import type { AccountStore } from '../../src/core/accounts/account-store.js';
import type { Actor } from '../../src/core/audit/audit.js';

export async function addAccount(
  accounts: Pick<AccountStore, 'addMany'>,
  account: Account,
  by?: Actor,
): Promise<'added' | 'username-taken'> {
  return (await accounts.addMany([account], by)).size === 0 ? 'username-taken' : 'added';
}

export async function accountOf(accounts: AccountStore, id: string): Promise<Account | null> {
  return (await accounts.getMany([id]))[0] ?? null;
}

export async function accountNamed(accounts: AccountStore, username: string): Promise<Account | null> {
  return (await accounts.all()).find((account) => account.username === username) ?? null;
}

/** Returns the changed account; null when it does not exist. */
export async function changeAccount(
  accounts: AccountStore,
  id: string,
  change: AccountChange,
  by?: Actor,
): Promise<Account | null> {
  return (await accounts.changeMany([{ id, after: afterChange(change) }], by))[0] ?? null;
}

export const afterChange =
  (change: AccountChange) =>
  (stored: Account): Account =>
    changed(stored, change);
