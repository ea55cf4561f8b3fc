// Parses the lists of addresses in a file of accounts, and compares authorized addresses with those of other accounts before anything
// is written.

import { type AddressRefusal, NO_ADDRESSES } from '../core/accounts/access/address-list.js';
import { readAllowedClients } from '../core/accounts/access/allowed-clients.js';
import {
  AddressIndex,
  addressTaken,
  readAuthorizedAddresses,
} from '../core/accounts/access/authorized-addresses.js';
import type { Accounts } from '../core/accounts/accounts.js';
import type { FileAccount } from './record.js';

/**
 * Tracks the owner of each authorized address after the lines planned so far, so that a dry run and an import refuse the same
 * lines.
 */
export function createAddressPlan({
  list,
  maxAuthorizedAddresses,
  maxAllowedClients,
}: Pick<Accounts, 'list' | 'maxAuthorizedAddresses' | 'maxAllowedClients'>) {
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
    /** Reads the lists of an account, and sets its authorized addresses, unless they are undefined or refused. */
    set(
      username: string,
      { authorizedAddresses: entries, allowedClients: clients }: AddressFields,
    ): PlannedAddresses {
      const allowed = clients && readAllowedClients(clients, maxAllowedClients);
      if (allowed && !allowed.ok) return allowed;
      const allowedClients = allowed?.addresses;
      if (entries === undefined) return { ok: true, authorizedAddresses: undefined, allowedClients };
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
      return { ok: true, authorizedAddresses: read.addresses, allowedClients };
    },
  };
}

type AddressFields = Pick<FileAccount, 'authorizedAddresses' | 'allowedClients'>;

type PlannedAddresses =
  | ({ readonly ok: true } & { readonly [K in keyof AddressFields]-?: readonly string[] | undefined })
  | { readonly ok: false; readonly refusal: AddressRefusal };
