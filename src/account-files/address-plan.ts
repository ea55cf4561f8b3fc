// Parses the authorized addresses in a file of accounts, and compares them with those of other accounts before anything is written.
import type { Accounts } from '../core/accounts/accounts.js';
import {
  AddressIndex,
  type AddressRefusal,
  addressTaken,
  NO_ADDRESSES,
  readAuthorizedAddresses,
} from '../core/accounts/authorized-addresses.js';

/**
 * Tracks the owner of each authorized address after the lines planned so far, so that a dry run and an import refuse the same
 * lines.
 */
export function createAddressPlan({
  list,
  maxAuthorizedAddresses,
}: Pick<Accounts, 'list' | 'maxAuthorizedAddresses'>) {
  /** The addresses by user name. They are indexed at the first line with addresses: other files need no index. */
  let owners: { readonly index: AddressIndex<string>; readonly of: Map<string, readonly string[]> } | null =
    null;

  function open() {
    const index = new AddressIndex<string>();
    const of = new Map<string, readonly string[]>();
    for (const { account } of list()) {
      if (account.authorizedAddresses.length === 0) continue;
      index.add(account.username, account.authorizedAddresses);
      of.set(account.username, account.authorizedAddresses);
    }
    return { index, of };
  }

  return {
    /** Sets the addresses of an account, unless they are undefined or refused. */
    set(username: string, entries: readonly string[] | undefined): PlannedAddresses {
      if (entries === undefined) return { ok: true, authorizedAddresses: undefined };
      const read = readAuthorizedAddresses(entries, maxAuthorizedAddresses);
      if (!read.ok) return read;
      owners ??= open();
      for (const entry of read.addresses) {
        const other = owners.index.overlap(entry, username);
        if (other !== undefined) return { ok: false, refusal: addressTaken(entry, other) };
      }
      owners.index.remove(username, owners.of.get(username) ?? NO_ADDRESSES);
      owners.index.add(username, read.addresses);
      owners.of.set(username, read.addresses);
      return { ok: true, authorizedAddresses: read.addresses };
    },
  };
}

type PlannedAddresses =
  | { readonly ok: true; readonly authorizedAddresses: readonly string[] | undefined }
  | { readonly ok: false; readonly refusal: AddressRefusal };
