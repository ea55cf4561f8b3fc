// The client addresses that are authorized for accounts; an address belongs to only one account.
import type { Knex } from 'knex';
import { NO_ADDRESSES } from '../../core/accounts/access/address-list.js';
import { rangeOf } from '../../core/accounts/access/authorized-addresses.js';
import { AddressTaken } from '../../core/accounts/account-store.js';
import { slices } from '../sql/statements.js';

/** Rows in one statement; five bound values each, well below the limit of every database. */
const ROWS_PER_STATEMENT = 200;

interface AddressRow {
  readonly account_id: string;
  readonly position: number;
  readonly network: string;
  readonly first_address: string;
  readonly last_address: string;
}

type Addresses = (accountId: string) => readonly string[];

/** Reads the authorized addresses of these accounts, or of all (null). */
export async function readAddresses(db: Knex, ids: readonly string[] | null): Promise<Addresses> {
  const query = db<AddressRow>('authorized_addresses').orderBy(['account_id', 'position']);
  const rows: AddressRow[] = await (ids === null ? query : query.whereIn('account_id', ids));
  const found = new Map<string, string[]>();
  for (const { account_id, network } of rows) {
    const present = found.get(account_id);
    if (present) present.push(network);
    else found.set(account_id, [network]);
  }
  return (id) => found.get(id) ?? NO_ADDRESSES;
}

/**
 * Writes the authorized addresses in the transaction that adds or changes the accounts. Removes all before adding any, so that
 * accounts can exchange addresses.
 * @param lock makes other transactions that write addresses wait until this one ends
 * @throws AddressTaken when another account has one of the addresses
 */
export async function writeAddresses(
  trx: Knex.Transaction,
  accounts: readonly { readonly id: string; readonly authorizedAddresses: readonly string[] }[],
  lock: (trx: Knex) => Promise<unknown>,
): Promise<void> {
  if (accounts.length === 0) return;
  await lock(trx);
  const ids = accounts.map(({ id }) => id);
  await trx('authorized_addresses').whereIn('account_id', ids).delete();
  const rows = accounts.flatMap(({ id, authorizedAddresses }) =>
    authorizedAddresses.map((network, position): AddressRow => {
      const [first, last] = rangeOf(network);
      return { account_id: id, position, network, first_address: first, last_address: last };
    }),
  );
  for (const slice of slices(rows, ROWS_PER_STATEMENT)) await trx('authorized_addresses').insert(slice);
  for (const row of rows) {
    const other: { account_id: string } | undefined = await trx<AddressRow>('authorized_addresses')
      .where('last_address', '>=', row.first_address)
      .where('first_address', '<=', row.last_address)
      .whereNot('account_id', row.account_id)
      .first('account_id');
    if (other) throw new AddressTaken(row.network, other.account_id);
  }
}
