// Finds the account of a client without credentials by the client's address. Every worker knows all authorized addresses:
// the worker that accepts a connection must find its account before it can pass the connection to that account's worker.
import { AddressIndex } from '../../core/accounts/access/address-list.js';

/** Replaces the authorized addresses of an account; an empty list removes it. */
export interface AuthorizedAccount {
  /** GUID. */
  readonly id: string;
  readonly username: string;
  readonly addresses: readonly string[];
}

export class AuthorizedClients {
  readonly #byId = new Map<string, AuthorizedAccount>();
  readonly #byAddress = new AddressIndex<string>();

  put(account: AuthorizedAccount): void {
    this.remove(account.id);
    if (account.addresses.length === 0) return;
    this.#byId.set(account.id, account);
    this.#byAddress.add(account.id, account.addresses);
  }

  remove(id: string): void {
    const present = this.#byId.get(id);
    if (present === undefined) return;
    this.#byId.delete(id);
    this.#byAddress.remove(id, present.addresses);
  }

  find(address: string): AuthorizedAccount | undefined {
    const id = this.#byAddress.find(address);
    return id === undefined ? undefined : this.#byId.get(id);
  }
}
