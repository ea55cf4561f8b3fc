// Reads the lists of addresses of a new or changed account, and checks its authorized addresses against those of all other accounts.
import { AddressTaken } from '../account-store.js';
import type { AccountDirectory } from '../directory.js';
import type { GivenFields } from '../fields/account-fields.js';
import { type AddressSettings, type RefusedAddress, readAddressLists } from '../fields/address-fields.js';
import type { AddressRefusal } from './address-list.js';
import { addressTaken } from './authorized-addresses.js';

export function createAddressCheck({
  directory,
  ...settings
}: AddressSettings & { readonly directory: Pick<AccountDirectory, 'byAuthorizedAddress' | 'byId'> }) {
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
