// The account directory: all accounts in memory, so that a login never waits for the database. It is a cache of the database.
// Every change of an account, by this or another process, is put into the directory, which notifies its listeners.
import { AddressIndex, type AddressRefusal, addressTaken } from './access/address-list.js';
import { type Account, withLastLogin } from './account.js';
import { AddressTaken } from './account-store.js';
import {
  type AddressSettings,
  type GivenFields,
  type RefusedAddress,
  readAddressLists,
} from './fields/account-fields.js';

/** `before` is null for a new account, `after` for a removed one. Both are the same object after `usageChanged`. */
export interface AccountChanged {
  readonly id: string;
  readonly before: Account | null;
  readonly after: Account | null;
}

export class AccountDirectory {
  readonly #byId = new Map<string, Account>();
  readonly #byName = new Map<string, Account>();
  readonly #byAddress = new AddressIndex<string>();
  readonly #listeners: ((changed: AccountChanged) => void)[] = [];
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

  /** The account that has an authorized address which overlaps this address or network, other than `exceptId`. */
  byAuthorizedAddress(network: string, exceptId?: string): Account | undefined {
    const id = this.#byAddress.overlap(network, exceptId);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** In the order of creation. */
  all(): IterableIterator<Account> {
    return this.#byId.values();
  }

  /**
   * Calls `listener` when an account is added, changed or removed, or its quota is used up or reset; before the change returns to
   * its caller. Not called for logins.
   */
  onChanged(listener: (changed: AccountChanged) => void): void {
    this.#listeners.push(listener);
  }

  load(accounts: Iterable<Account>): void {
    for (const account of accounts) {
      this.#set(account);
      this.#byAddress.add(account.id, account.authorizedAddresses);
    }
  }

  /** Adds or replaces an account with its current state in the database. */
  put(account: Account): void {
    const before = this.#byId.get(account.id) ?? null;
    const after = this.withNewestLogin(account);
    if (before && before.username !== after.username && this.#byName.get(before.username) === before)
      this.#byName.delete(before.username);
    if (before) this.#byAddress.remove(before.id, before.authorizedAddresses);
    this.#set(after);
    this.#byAddress.add(after.id, after.authorizedAddresses);
    this.#publish({ id: account.id, before, after });
  }

  /** A stored account with its newest login: one that is not yet written is newer than the login time in the database. */
  withNewestLogin(stored: Account): Account {
    const known = this.#byId.get(stored.id)?.lastLoginAt ?? null;
    return { ...stored, lastLoginAt: latest(stored.lastLoginAt, known) };
  }

  remove(id: string): void {
    const before = this.#byId.get(id);
    if (!before) return;
    this.#byId.delete(id);
    if (this.#byName.get(before.username) === before) this.#byName.delete(before.username);
    this.#byAddress.remove(id, before.authorizedAddresses);
    this.#unsavedLogins.delete(id);
    this.#publish({ id, before, after: null });
  }

  /**
   * Notifies listeners that the quota of an unchanged account is used up or reset, or that the number of its sessions on other
   * nodes changed.
   */
  usageChanged(account: Account): void {
    this.#publish({ id: account.id, before: account, after: account });
  }

  /** Records a successful login. The heartbeat writer writes logins to the database in batches. */
  loggedIn(id: string, at: number): void {
    const account = this.#byId.get(id);
    if (!account) return;
    this.#set(withLastLogin(account, at));
    this.#unsavedLogins.set(id, at);
  }

  /** Records a login on another node. That node writes it to the database. */
  loggedInElsewhere(id: string, at: number): void {
    const account = this.#byId.get(id);
    if (account && at > (account.lastLoginAt ?? 0)) this.#set(withLastLogin(account, at));
  }

  /** Takes the unwritten logins. The caller returns them with `restoreLogins` when writing fails. */
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

  #set(account: Account): void {
    this.#byId.set(account.id, account);
    this.#byName.set(account.username, account);
  }

  #publish(changed: AccountChanged): void {
    for (const listener of this.#listeners) listener(changed);
  }
}

function latest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

export function createAddressCheck(
  options: AddressSettings & { readonly directory: Pick<AccountDirectory, 'byAuthorizedAddress' | 'byId'> },
) {
  const { directory, ...settings } = options;
  return {
    /**
     * Reads the lists of a change as `readAddressLists`, or refuses one.
     * @param id of the changed account; undefined: a new account
     */
    read<Change extends GivenFields>(
      change: Change,
      id?: string,
    ): ReturnType<typeof readAddressLists<Change>> {
      const read = readAddressLists(change, settings);
      if (!read.ok) return read;
      for (const entry of read.change.authorizedAddresses ?? []) {
        const other = directory.byAuthorizedAddress(entry, id);
        if (other) return taken(addressTaken(entry, other.username));
      }
      return read;
    },

    /** The refusal for a write that the store rejected with AddressTaken. Rethrows every other error. */
    refusalOf(error: unknown): RefusedAddress {
      if (!(error instanceof AddressTaken)) throw error;
      const username = directory.byId(error.accountId)?.username ?? error.accountId;
      return taken(addressTaken(error.entry, username));
    },
  };
}

const taken = (address: AddressRefusal): RefusedAddress => ({
  ok: false,
  reason: 'address-taken',
  list: 'authorizedAddresses',
  address,
});
