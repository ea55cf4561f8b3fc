// Reads the lists of addresses of a new or changed account, and checks its authorized addresses against those of all other accounts.
import { AddressTaken } from '../account-store.js';
import type { AccountDirectory } from '../directory.js';
import type { AddressRefusal } from './address-list.js';
import { readAllowedClients } from './allowed-clients.js';
import { addressTaken, readAuthorizedAddresses } from './authorized-addresses.js';

export interface RefusedAddress {
  readonly ok: false;
  readonly reason: 'invalid-addresses' | 'address-taken' | 'invalid-allowed-clients';
  readonly address: AddressRefusal;
}

interface AddressLists {
  readonly authorizedAddresses?: readonly string[] | undefined;
  readonly allowedClients?: readonly string[] | undefined;
}

export interface AddressCheck {
  /**
   * Reads the lists in the form that is stored, or refuses one; an undefined list stays undefined.
   * @param id of the changed account; undefined: a new account
   */
  read(
    lists: AddressLists,
    id?: string,
  ): { readonly ok: true; readonly lists: AddressLists } | RefusedAddress;
  /** The refusal for a write that the store rejected with AddressTaken. Rethrows every other error. */
  refuseTaken(error: unknown): RefusedAddress;
}

export function createAddressCheck({
  directory,
  maxAuthorizedAddresses,
  maxAllowedClients,
}: {
  readonly directory: Pick<AccountDirectory, 'byAuthorizedAddress' | 'byId'>;
  /** Per account. */
  readonly maxAuthorizedAddresses: number;
  readonly maxAllowedClients: number;
}): AddressCheck {
  return {
    read({ authorizedAddresses, allowedClients }, id) {
      const authorized =
        authorizedAddresses && readAuthorizedAddresses(authorizedAddresses, maxAuthorizedAddresses);
      if (authorized && !authorized.ok) return refused(authorized.refusal);
      for (const entry of authorized?.addresses ?? []) {
        const other = directory.byAuthorizedAddress(entry, id);
        if (other) return refused(addressTaken(entry, other.username));
      }
      const allowed = allowedClients && readAllowedClients(allowedClients, maxAllowedClients);
      if (allowed && !allowed.ok)
        return { ok: false, reason: 'invalid-allowed-clients', address: allowed.refusal };
      const lists = { authorizedAddresses: authorized?.addresses, allowedClients: allowed?.addresses };
      return { ok: true, lists };
    },

    refuseTaken(error) {
      if (!(error instanceof AddressTaken)) throw error;
      const username = directory.byId(error.accountId)?.username ?? error.accountId;
      return refused(addressTaken(error.entry, username));
    },
  };
}

function refused(address: AddressRefusal): RefusedAddress {
  const reason = address.code === 'address-taken' ? address.code : 'invalid-addresses';
  return { ok: false, reason, address };
}
