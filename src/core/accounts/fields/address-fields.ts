// The fields of an account that are lists of addresses, each with its rules in the table of fields.
import type { GeoPaths } from '../../geo.js';
import { type AddressRefusal, readAddressList } from '../access/address-list.js';
import { ACCOUNT_FIELDS, FIELDS, type FieldsWith, type GivenFields } from './account-fields.js';

export type ListName = FieldsWith<'addresses'>;
type ListRules = (typeof ACCOUNT_FIELDS)[ListName];
/** Most entries of one account, and the files that know countries and networks. */
export type AddressSettings = Readonly<Record<ListRules['addresses']['max'], number>> & {
  readonly geoFiles: GeoPaths;
};

export interface RefusedAddress {
  readonly ok: false;
  readonly reason: ListRules['reason'] | 'address-taken';
  readonly list: ListName;
  readonly address: AddressRefusal;
}

export const ADDRESS_FIELDS = FIELDS.flatMap(([name, { addresses }]) =>
  addresses ? [name as ListName] : [],
);

/** The lists that sellers may not fill have no entries. */
export function addressSettingsOfSellers({ geoFiles, ...max }: AddressSettings): AddressSettings {
  const names = ADDRESS_FIELDS.map((list) => ACCOUNT_FIELDS[list].addresses);
  const own = names.map(({ max: name, isForSellers }) => [name, isForSellers ? max[name] : 0]);
  return { geoFiles, ...(Object.fromEntries(own) as typeof max) };
}

/** Returns a change with its lists in the form that is stored, or why one is refused; an undefined list stays undefined. */
export function readAddressLists<Change extends GivenFields>(
  change: Change,
  settings: AddressSettings,
): { readonly ok: true; readonly change: Change } | RefusedAddress {
  const read: Record<string, readonly string[]> = {};
  for (const list of ADDRESS_FIELDS) {
    const { addresses: rules, reason } = ACCOUNT_FIELDS[list];
    const entries = change[list];
    if (entries === undefined) continue;
    const found = readAddressList(entries, rules, settings[rules.max], settings.geoFiles);
    if (!found.ok) return { ok: false, reason, list, address: found.refusal };
    read[list] = found.addresses;
  }
  return { ok: true, change: { ...change, ...read } };
}
