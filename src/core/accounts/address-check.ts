// Checks the authorized addresses of a new or changed account against those of all other accounts.
import { AddressTaken } from './account-store.js';
import { type AddressRefusal, addressTaken, readAuthorizedAddresses } from './authorized-addresses.js';
import type { AccountDirectory } from './directory.js';

export interface RefusedAddress {
  readonly ok: false;
  readonly reason: 'invalid-addresses' | 'address-taken';
  readonly address: AddressRefusal;
}

export interface AddressCheck {
  /**
   * Reads the entries in the form that is stored, or refuses them; undefined stays undefined.
   * @param id of the account whose addresses they become; undefined: a new account
   */
  read(
    entries: readonly string[] | undefined,
    id?: string,
  ): { readonly ok: true; readonly addresses: readonly string[] | undefined } | RefusedAddress;
  /** The refusal for a write that the store rejected with AddressTaken. Throws every other error again. */
  refuseTaken(error: unknown): RefusedAddress;
}

/** @param max number of entries of one account */
export function createAddressCheck(
  directory: Pick<AccountDirectory, 'byAuthorizedAddress' | 'byId'>,
  max: number,
): AddressCheck {
  return {
    read(entries, id) {
      if (entries === undefined) return { ok: true, addresses: undefined };
      const read = readAuthorizedAddresses(entries, max);
      if (!read.ok) return refused(read.refusal);
      for (const entry of read.addresses) {
        const other = directory.byAuthorizedAddress(entry, id);
        if (other) return refused(addressTaken(entry, other.username));
      }
      return read;
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
