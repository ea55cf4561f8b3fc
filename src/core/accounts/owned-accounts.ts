// The account service of a seller: it knows only the accounts that the seller owns. Every read and write of a seller uses it.
import type { Account } from './account.js';
import type { Accounts, ChangeOf } from './accounts.js';
import { addressSettingsOfSellers, readAddressLists } from './fields/account-fields.js';

/** @param owner id of the seller */
export function accountsOfSeller(accounts: Accounts, owner: string): Accounts {
  const isOwn = (account: Account): boolean => account.owner === owner;
  const owns = (id: string): boolean => {
    const view = accounts.get(id);
    return view !== null && isOwn(view.account);
  };
  const ownIds = (ids: readonly string[]): string[] => ids.filter(owns);
  const settings = addressSettingsOfSellers(accounts);
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
    hasExit: (name) => accounts.hasExit(name, owner),
    ...settings,

    async add(input, by) {
      const read = readAddressLists(input, settings);
      return read.ok ? accounts.add({ ...input, owner }, by) : read;
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

    async patch(id, changeOf, by) {
      if (!owns(id)) return NOT_FOUND;
      const ownChangeOf: ChangeOf = (stored) => {
        const change = changeOf(stored);
        if ('ok' in change) return change;
        const read = readAddressLists(change, settings);
        return read.ok ? change : read;
      };
      return accounts.patch(id, ownChangeOf, by);
    },
    patchMany: (changes, by) =>
      accounts.patchMany(
        changes.filter(({ id }) => owns(id)),
        by,
      ),
    resetUsage: (ids, by) => accounts.resetUsage(ownIds(ids), by),
    firstLogin: async (id, at) => (owns(id) ? accounts.firstLogin(id, at) : undefined),
    remove: async (id, by, refusalOf) => (owns(id) ? accounts.remove(id, by, refusalOf) : NOT_FOUND),
    removeMany: (ids, by) => accounts.removeMany(ownIds(ids), by),
    refresh: (ids) => accounts.refresh(ownIds(ids)),
  };
}

const NOT_FOUND = { ok: false, reason: 'not-found' } as const;
