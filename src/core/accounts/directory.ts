// The account directory: all accounts in memory, so that a login never waits for the database.
// It is a cache of the database with one way in: whoever changes an account, here or in another process, tells it.

import type { SessionEnd } from '../sessions/session.js';
import { type Account, isExpired, withLastLogin } from './account.js';

/** Called when an account may no longer be used as it was: its live sessions must end. */
export type AccountClosed = (account: Account, reason: SessionEnd) => void;

export class AccountDirectory {
  readonly #byId = new Map<string, Account>();
  readonly #byName = new Map<string, Account>();
  readonly #onClosed: AccountClosed[] = [];
  readonly #onChanged: ((id: string) => void)[] = [];
  #unsavedLogins = new Map<string, number>();

  get size(): number {
    return this.#byId.size;
  }

  byId(id: string): Account | undefined {
    return this.#byId.get(id);
  }

  byUsername(username: string): Account | undefined {
    return this.#byName.get(username);
  }

  /** In the order of creation. */
  all(): IterableIterator<Account> {
    return this.#byId.values();
  }

  onClosed(listener: AccountClosed): void {
    this.#onClosed.push(listener);
  }

  /** Called when an account was added, changed or removed; not for logins. */
  onChanged(listener: (id: string) => void): void {
    this.#onChanged.push(listener);
  }

  /** Fills the directory at start. */
  load(accounts: Iterable<Account>): void {
    for (const account of accounts) this.#set(account);
  }

  /** Takes in an account as the database has it now, and closes its sessions if it was disabled or its password changed. */
  put(account: Account): void {
    const before = this.#byId.get(account.id);
    // A login that is not yet written is newer than what the database says.
    const lastLoginAt = latest(account.lastLoginAt, before?.lastLoginAt ?? null);
    this.#set({ ...account, lastLoginAt });
    this.#changed(account.id);
    if (!before) return;
    if (!account.isEnabled) this.#closed(account, 'account-disabled');
    else if (account.passwordHash !== before.passwordHash) this.#closed(account, 'password-changed');
  }

  remove(id: string): void {
    const account = this.#byId.get(id);
    if (!account) return;
    this.#byId.delete(id);
    if (this.#byName.get(account.username) === account) this.#byName.delete(account.username);
    this.#unsavedLogins.delete(id);
    this.#closed(account, 'account-removed');
    this.#changed(id);
  }

  /** Replaces an imported hash by its salted form: the same password, so sessions stay. */
  rehashed(id: string, passwordHash: string): void {
    const account = this.#byId.get(id);
    if (account) this.#set({ ...account, passwordHash });
  }

  /** Notes a successful login; written to the database later, many at once. */
  loggedIn(id: string, at: number): void {
    const account = this.#byId.get(id);
    if (!account) return;
    this.#set(withLastLogin(account, at));
    this.#unsavedLogins.set(id, at);
  }

  /** Hands over the logins not yet written. The caller gives them back with `restoreLogins` if writing fails. */
  takeLogins(): { id: string; at: number }[] {
    const taken = [...this.#unsavedLogins].map(([id, at]) => ({ id, at }));
    this.#unsavedLogins = new Map();
    return taken;
  }

  restoreLogins(logins: readonly { id: string; at: number }[]): void {
    for (const { id, at } of logins) {
      if (this.#byId.has(id) && !this.#unsavedLogins.has(id)) this.#unsavedLogins.set(id, at);
    }
  }

  /** Closes the sessions of those of `ids` whose account has expired by `now`. Meant to be called about once a second. */
  closeExpired(ids: Iterable<string>, now: number): void {
    for (const id of [...ids]) {
      const account = this.#byId.get(id);
      if (account && isExpired(account, now)) this.#closed(account, 'account-expired');
    }
  }

  #set(account: Account): void {
    this.#byId.set(account.id, account);
    this.#byName.set(account.username, account);
  }

  #changed(id: string): void {
    for (const listener of this.#onChanged) listener(id);
  }

  #closed(account: Account, reason: SessionEnd): void {
    for (const listener of this.#onClosed) listener(account, reason);
  }
}

function latest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
