// Whose account a client without credentials is, by its address. Every worker knows all of them: the worker that accepts a
// connection must find out whose it is before the worker of that account can serve it.
import { AddressIndex } from '../core/accounts/authorized-addresses.js';

/** The authorized addresses of an account as they are now; none: it has no more. */
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

  /** The account of a client's address; undefined: it is nobody's. */
  find(address: string): AuthorizedAccount | undefined {
    const id = this.#byAddress.find(address);
    return id === undefined ? undefined : this.#byId.get(id);
  }
}
