// Converts accounts to and from table rows.
import type { Account } from '../../core/accounts/account.js';
import { type AccountFields, FIELDS, type FieldName } from '../../core/accounts/fields/account-fields.js';
import { type Contacts, changedContacts, NO_CONTACTS } from '../../core/accounts/fields/contacts.js';
import type { Cell } from '../../core/accounts/fields/kinds.js';
import { toWireDate } from '../../core/wire-date.js';
import { type ColumnOf, columnOf } from '../sql/rows.js';
import { type LimitsRow, toLimits } from './limits.js';

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

/** An account row joined with the row of its limits, if there is one. */
export type JoinedRow = AccountRow & (LimitsRow | { readonly account_id: null });

export function toAccount(row: JoinedRow, addressesOf: (id: string) => readonly string[]): Account {
  const values = row as unknown as Readonly<Record<string, Cell>>;
  const fields: Record<string, unknown> = {};
  for (const { name, column, field } of COLUMNS) fields[name] = field.ofColumn(values[column] ?? null);
  return {
    id: row.id,
    username: row.username,
    passwordHash: row.password_hash,
    passwordVersion: Number(row.password_version),
    link: row.link_hash === null ? null : { hash: row.link_hash, createdAt: Number(row.link_created_at) },
    createdAt: toWireDate(Number(row.created_at)),
    lastLoginAt: row.last_login_at === null ? null : toWireDate(Number(row.last_login_at)),
    ...(fields as unknown as Omit<AccountFields, 'authorizedAddresses'>),
    ...toLimits(row),
    authorizedAddresses: addressesOf(row.id),
    contacts: toContacts(row.contacts),
  };
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
