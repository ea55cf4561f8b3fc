// Converts accounts to and from table rows.

import { NO_ADDRESSES } from '../../core/accounts/access/address-list.js';
import type { Account, AccountUpdate } from '../../core/accounts/account.js';
import { type Contacts, changedContacts, NO_CONTACTS } from '../../core/accounts/fields/contacts.js';
import { toWireDate } from '../../core/wire-date.js';
import { type Integer, toNumber } from '../sql/statements.js';
import { type LimitsRow, toLimits } from './limits.js';

export interface AccountRow {
  id: string;
  username: string;
  password_hash: string;
  password_version: Integer;
  is_enabled: number | boolean;
  remarks: string | null;
  /** A JSON array; null is none. */
  tags: string | null;
  created_at: Integer;
  last_login_at: Integer | null;
  expires_at: Integer | null;
  days_from_first_login: Integer | null;
  plan: string | null;
  owner: string | null;
  /** A JSON object; null is none. */
  contacts: string | null;
  /** A JSON array; null is none. */
  allowed_clients: string | null;
  schedule: string | null;
}

/** An account row joined with the row of its limits, if there is one. */
export type JoinedRow = AccountRow & (LimitsRow | { readonly account_id: null });

export function toAccount(row: JoinedRow, addressesOf: (id: string) => readonly string[]): Account {
  return {
    id: row.id,
    username: row.username,
    passwordHash: row.password_hash,
    passwordVersion: Number(row.password_version),
    isEnabled: Boolean(row.is_enabled),
    remarks: row.remarks,
    tags: toList(row.tags),
    createdAt: toWireDate(Number(row.created_at)),
    lastLoginAt: toDate(row.last_login_at),
    expiresAt: toDate(row.expires_at),
    daysFromFirstLogin: toNumber(row.days_from_first_login),
    plan: row.plan,
    owner: row.owner,
    ...toLimits(row),
    authorizedAddresses: addressesOf(row.id),
    allowedClients: toList(row.allowed_clients),
    schedule: row.schedule,
    contacts: toContacts(row.contacts),
  };
}

export function toRow(account: Account): AccountRow {
  return {
    id: account.id,
    username: account.username,
    password_hash: account.passwordHash,
    password_version: account.passwordVersion,
    is_enabled: account.isEnabled,
    remarks: account.remarks,
    tags: listText(account.tags),
    created_at: account.createdAt,
    last_login_at: account.lastLoginAt,
    expires_at: account.expiresAt,
    days_from_first_login: account.daysFromFirstLogin,
    plan: account.plan,
    owner: account.owner,
    contacts: contactsText(account.contacts),
    allowed_clients: listText(account.allowedClients),
    schedule: account.schedule,
  };
}

/** The columns that an update changes, with the values of the updated account `after`. */
export function changedColumns(after: Account, fields: AccountUpdate): Partial<AccountRow> {
  return {
    ...(fields.username === undefined ? {} : { username: fields.username }),
    ...(fields.isEnabled === undefined ? {} : { is_enabled: fields.isEnabled }),
    ...(fields.remarks === undefined ? {} : { remarks: fields.remarks }),
    ...(fields.tags === undefined ? {} : { tags: listText(fields.tags) }),
    ...(fields.expiresAt === undefined ? {} : { expires_at: fields.expiresAt }),
    ...(fields.daysFromFirstLogin === undefined ? {} : { days_from_first_login: fields.daysFromFirstLogin }),
    ...(fields.plan === undefined ? {} : { plan: fields.plan }),
    ...(fields.owner === undefined ? {} : { owner: fields.owner }),
    ...(fields.passwordHash === undefined
      ? {}
      : { password_hash: after.passwordHash, password_version: after.passwordVersion }),
    ...(fields.contacts === undefined ? {} : { contacts: contactsText(after.contacts) }),
    ...(fields.allowedClients === undefined ? {} : { allowed_clients: listText(after.allowedClients) }),
    ...(fields.schedule === undefined ? {} : { schedule: after.schedule }),
  };
}

const toContacts = (text: string | null): Contacts =>
  text === null ? NO_CONTACTS : changedContacts(NO_CONTACTS, JSON.parse(text) as Partial<Contacts>);

const contactsText = (contacts: Contacts): string | null =>
  contacts === NO_CONTACTS ? null : JSON.stringify(contacts);

const toList = (text: string | null): readonly string[] =>
  text === null ? NO_ADDRESSES : (JSON.parse(text) as string[]);

const listText = (list: readonly string[]): string | null =>
  list.length === 0 ? null : JSON.stringify(list);

/** Versions without validation could store dates that the account API cannot represent. */
function toDate(value: Integer | null): number | null {
  return value === null ? null : toWireDate(Number(value));
}
