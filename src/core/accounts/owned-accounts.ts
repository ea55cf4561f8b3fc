// The account service of a seller: it knows only the accounts that the seller owns. Every read and write of a seller uses it.

import type { AddressRefusal } from './access/address-list.js';
import { readAuthorizedAddresses } from './access/authorized-addresses.js';
import type { Account } from './account.js';
import type { Accounts, ChangeOf } from './accounts.js';

/** An authorized address belongs to one account of the whole server. Only the administrator assigns such addresses. */
const MAX_ADDRESSES = 0;

/** @param owner id of the seller */
export function accountsOfSeller(accounts: Accounts, owner: string): Accounts {
  const isOwn = (account: Account): boolean => account.owner === owner;
  const owns = (id: string): boolean => {
    const view = accounts.get(id);
    return view !== null && isOwn(view.account);
  };
  const ownIds = (ids: readonly string[]): string[] => ids.filter(owns);
  const list: Accounts['list'] = () => accounts.list().filter(({ account }) => isOwn(account));

  return {
    list,
    count: () => list().length,
    get: (id) => (owns(id) ? accounts.get(id) : null),
    getByUsername(username) {
      const view = accounts.getByUsername(username);
      return view && isOwn(view.account) ? view : null;
    },
    // Names and ids are unique over all accounts. A seller learns this anyway when the creation of an account is refused.
    hasUsername: accounts.hasUsername,
    hasId: accounts.hasId,
    hasEgressClass: accounts.hasEgressClass,
    maxAuthorizedAddresses: MAX_ADDRESSES,
    maxAllowedClients: accounts.maxAllowedClients,

    async add(input, by) {
      return refuseAddresses(input) ?? accounts.add({ ...input, owner }, by);
    },
    addMany: (inputs, by) =>
      accounts.addMany(
        inputs.map((input) => ({ ...input, owner })),
        by,
      ),
    addImported: (imported, by) =>
      accounts.addImported(
        imported.map(({ account, ...rest }) => ({ ...rest, account: { ...account, owner } })),
        by,
      ),

    update: async (id, input, by) => (owns(id) ? accounts.update(id, input, by) : NOT_FOUND),
    async patch(id, changeOf, by) {
      if (!owns(id)) return NOT_FOUND;
      const ownChangeOf: ChangeOf = (stored) => {
        const change = changeOf(stored);
        return 'ok' in change ? change : (refuseAddresses(change) ?? change);
      };
      return accounts.patch(id, ownChangeOf, by);
    },
    patchMany: (changes, by) =>
      accounts.patchMany(
        changes.filter(({ id }) => owns(id)),
        by,
      ),
    resetUsage: async (id, by) => owns(id) && accounts.resetUsage(id, by),
    firstLogin: async (id, at) => (owns(id) ? accounts.firstLogin(id, at) : undefined),
    remove: async (id, by, refuse) => (owns(id) ? accounts.remove(id, by, refuse) : NOT_FOUND),
    removeMany: (ids, by) => accounts.removeMany(ownIds(ids), by),
    refresh: (ids) => accounts.refresh(ownIds(ids)),
  };
}

const NOT_FOUND = { ok: false, reason: 'not-found' } as const;

/** Returns null when the input names no authorized address. */
function refuseAddresses({
  authorizedAddresses = [],
}: {
  readonly authorizedAddresses?: readonly string[] | undefined;
}) {
  const read = readAuthorizedAddresses(authorizedAddresses, MAX_ADDRESSES);
  if (read.ok) return null;
  const address: AddressRefusal = read.refusal;
  return { ok: false, reason: 'invalid-addresses', address } as const;
}
