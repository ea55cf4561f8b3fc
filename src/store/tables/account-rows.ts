// The rows of accounts, of their limits and of their authorized addresses.
import type { Knex } from 'knex';
import { NO_ADDRESSES, rangeOf } from '../../core/accounts/access/address-list.js';
import { type Account, withLastLogin } from '../../core/accounts/account.js';
import { AddressTaken } from '../../core/accounts/account-store.js';
import { type AccountFields, FIELDS, type FieldName } from '../../core/accounts/fields/account-fields.js';
import { type Contacts, changedContacts, NO_CONTACTS } from '../../core/accounts/fields/contacts.js';
import type { Cell } from '../../core/accounts/fields/kinds.js';
import { type AccountLimits, LIMIT_KINDS, NO_LIMITS } from '../../core/accounts/usage/limits.js';
import { getOrAdd } from '../../core/maps.js';
import { toWireDate } from '../../core/time/wire-date.js';
import type { StoreContext } from '../database.js';
import { type ColumnOf, columnOf, slices } from '../sql.js';

/** Authorized addresses have their own table. */
const COLUMNS = FIELDS.filter(([name]) => name !== 'authorizedAddresses').map(
  ([name, field]) => ({ name, column: columnOf(name), field }) as const,
);

export type AccountRow = {
  id: string;
  username: string;
  password_hash: string;
  password_version: number;
  link_hash: string | null;
  link_created_at: number | null;
  created_at: number;
  last_login_at: number | null;
  /** A JSON object; null is none. */
  contacts: string | null;
} & Record<ColumnOf<Exclude<FieldName, 'authorizedAddresses'>>, Cell>;

export type JoinedRow = AccountRow & (LimitsRow | typeof UNLIMITED);

export const UNLIMITED = { account_id: null } as const;

export function toAccount(
  row: AccountRow,
  limits: LimitsRow | typeof UNLIMITED,
  addressesOf: (id: string) => readonly string[],
): Account {
  const values = row as unknown as Readonly<Record<string, Cell>>;
  const fields: Record<string, unknown> = {};
  for (const { name, column, field } of COLUMNS) fields[name] = field.ofColumn(values[column] ?? null);
  const account = {
    id: row.id,
    username: row.username,
    passwordHash: row.password_hash,
    passwordVersion: Number(row.password_version),
    link: row.link_hash === null ? null : { hash: row.link_hash, createdAt: Number(row.link_created_at) },
    createdAt: toWireDate(Number(row.created_at)),
    ...(fields as unknown as Omit<AccountFields, 'authorizedAddresses'>),
    ...toLimits(limits),
    authorizedAddresses: addressesOf(row.id),
    contacts: toContacts(row.contacts),
  };
  const at = row.last_login_at === null ? null : toWireDate(Number(row.last_login_at));
  // In the shape of all accounts, and without room for more properties.
  return withLastLogin(account, at);
}

export function toRow(account: Account): AccountRow {
  const fields = COLUMNS.map(({ name, column, field }) => [column, field.toColumn(account[name])]);
  return {
    id: account.id,
    username: account.username,
    password_hash: account.passwordHash,
    password_version: account.passwordVersion,
    link_hash: account.link?.hash ?? null,
    link_created_at: account.link?.createdAt ?? null,
    created_at: account.createdAt,
    last_login_at: account.lastLoginAt,
    contacts: account.contacts === NO_CONTACTS ? null : JSON.stringify(account.contacts),
    ...Object.fromEntries(fields),
  };
}

/** The columns that a change writes. Logins are written by themselves. */
export function changedColumns(before: Account, after: Account): Partial<AccountRow> {
  const old: Readonly<Record<string, unknown>> = toRow(before);
  const { last_login_at: _, ...row } = toRow(after);
  return Object.fromEntries(Object.entries(row).filter(([column, value]) => value !== old[column]));
}

const toContacts = (text: string | null): Contacts =>
  text === null ? NO_CONTACTS : changedContacts(NO_CONTACTS, JSON.parse(text) as Partial<Contacts>);

const LIMIT_COLUMNS = LIMIT_KINDS.map(([name, kind]) => ({ name, column: columnOf(name), kind }) as const);

export type LimitsRow = Record<ColumnOf<keyof AccountLimits>, Cell> & {
  account_id: string;
  reset_at: number | null;
  reset_total_bytes: number;
};

/** Writes the limits of accounts in the transaction that adds or changes the accounts. */
export async function writeLimits(trx: Knex.Transaction, accounts: readonly Account[]): Promise<void> {
  for (const rows of slices(accounts.map(toLimitsRow)))
    await trx('account_limits').insert(rows).onConflict('account_id').merge();
}

/** Converts the joined limits row of an account, which may be missing. */
function toLimits(row: LimitsRow | typeof UNLIMITED): Pick<Account, 'limits' | 'quotaReset'> {
  if (row.account_id === null) return { limits: NO_LIMITS, quotaReset: null };
  const limits = LIMIT_COLUMNS.map(({ name, column, kind }) => [name, kind.ofColumn(row[column])]);
  const { reset_at: at, reset_total_bytes: totalBytes } = row;
  return {
    limits: Object.fromEntries(limits) as AccountLimits,
    quotaReset: at === null ? null : { at: Number(at), totalBytes: Number(totalBytes) },
  };
}

function toLimitsRow({ id, limits, quotaReset }: Account): LimitsRow {
  const columns = LIMIT_COLUMNS.map(({ name, column, kind }) => [column, kind.toColumn(limits[name])]);
  return {
    account_id: id,
    reset_at: quotaReset?.at ?? null,
    reset_total_bytes: quotaReset?.totalBytes ?? 0,
    ...Object.fromEntries(columns),
  };
}

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
  for (const { account_id, network } of rows) getOrAdd(found, account_id, () => []).push(network);
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
  lock: StoreContext['lock'],
): Promise<void> {
  if (accounts.length === 0) return;
  await lock(trx, 'addresses');
  const ids = accounts.map(({ id }) => id);
  await trx('authorized_addresses').whereIn('account_id', ids).delete();
  const rows = accounts.flatMap(({ id, authorizedAddresses }) =>
    authorizedAddresses.map((network, position): AddressRow => {
      const [first, last] = rangeOf(network);
      return { account_id: id, position, network, first_address: first, last_address: last };
    }),
  );
  for (const slice of slices(rows)) await trx('authorized_addresses').insert(slice);
  for (const row of rows) {
    const other: { account_id: string } | undefined = await trx<AddressRow>('authorized_addresses')
      .where('last_address', '>=', row.first_address)
      .where('first_address', '<=', row.last_address)
      .whereNot('account_id', row.account_id)
      .first('account_id');
    if (other) throw new AddressTaken(row.network, other.account_id);
  }
}
