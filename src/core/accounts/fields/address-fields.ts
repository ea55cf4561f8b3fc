// The fields of an account that are lists of addresses, each with its rules in the table of fields.
import { type AddressRefusal, readAddressList } from '../access/address-list.js';
import { ACCOUNT_FIELDS, FIELDS, type FieldsWith, type GivenFields } from './account-fields.js';

export type ListName = FieldsWith<'addresses'>;
type ListRules = (typeof ACCOUNT_FIELDS)[ListName];
/** Most entries of one account. */
export type MaxAddresses = Readonly<Record<ListRules['addresses']['max'], number>>;

export interface RefusedAddress {
  readonly ok: false;
  readonly reason: ListRules['reason'] | 'address-taken';
  readonly list: ListName;
  readonly address: AddressRefusal;
}

export const ADDRESS_FIELDS = FIELDS.flatMap(([name, { addresses }]) =>
  addresses ? [name as ListName] : [],
);

/** Returns how many entries each list may have: those that sellers may not fill have none. */
export const maxOfSellers = (max: MaxAddresses): MaxAddresses =>
  Object.fromEntries(
    ADDRESS_FIELDS.map((list) => {
      const { max: name, isForSellers } = ACCOUNT_FIELDS[list].addresses;
      return [name, isForSellers ? max[name] : 0];
    }),
  ) as MaxAddresses;

/** Returns a change with its lists in the form that is stored, or why one is refused; an undefined list stays undefined. */
export function readAddressLists<Change extends GivenFields>(
  change: Change,
  max: MaxAddresses,
): { readonly ok: true; readonly change: Change } | RefusedAddress {
  const read: Record<string, readonly string[]> = {};
  for (const list of ADDRESS_FIELDS) {
    const { addresses: rules, reason } = ACCOUNT_FIELDS[list];
    const entries = change[list];
    if (entries === undefined) continue;
    const found = readAddressList(entries, rules, max[rules.max]);
    if (!found.ok) return { ok: false, reason, list, address: found.refusal };
    read[list] = found.addresses;
  }
  return { ok: true, change: { ...change, ...read } };
}
