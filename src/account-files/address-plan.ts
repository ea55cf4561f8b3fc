// Parses the lists of addresses in a file of accounts, and compares authorized addresses with those of other accounts before anything
// is written.
import { type AddressRefusal, NO_ADDRESSES } from '../core/accounts/access/address-list.js';
import { AddressIndex, addressTaken } from '../core/accounts/access/authorized-addresses.js';
import type { AccountViews } from '../core/accounts/account-views.js';
import type { GivenFields } from '../core/accounts/fields/account-fields.js';
import { type AddressSettings, readAddressLists } from '../core/accounts/fields/address-fields.js';

/**
 * Tracks the owner of each authorized address after the lines planned so far, so that a dry run and an import refuse the same
 * lines.
 */
export function createAddressPlan(accounts: Pick<AccountViews, 'list'> & AddressSettings) {
  /** The addresses by user name. They are indexed at the first line with addresses: other files need no index. */
  let owners: { readonly index: AddressIndex<string>; readonly of: Map<string, readonly string[]> } | null =
    null;

  function open() {
    const index = new AddressIndex<string>();
    const of = new Map<string, readonly string[]>();
    for (const { account } of accounts.list()) {
      if (account.authorizedAddresses.length === 0) continue;
      index.add(account.username, account.authorizedAddresses);
      of.set(account.username, account.authorizedAddresses);
    }
    return { index, of };
  }

  return {
    /** Reads the lists of a change of an account, and sets its authorized addresses, unless they are undefined or refused. */
    set<Change extends GivenFields>(
      username: string,
      given: Change,
    ):
      | { readonly ok: true; readonly change: Change }
      | { readonly ok: false; readonly address: AddressRefusal } {
      const read = readAddressLists(given, accounts);
      if (!read.ok || read.change.authorizedAddresses === undefined) return read;
      const { authorizedAddresses } = read.change;
      owners ??= open();
      for (const entry of authorizedAddresses) {
        const other = owners.index.overlap(entry, username);
        if (other !== undefined) return { ok: false, address: addressTaken(entry, other) };
      }
      owners.index.remove(username, owners.of.get(username) ?? NO_ADDRESSES);
      owners.index.add(username, authorizedAddresses);
      owners.of.set(username, authorizedAddresses);
      return read;
    },
  };
}
