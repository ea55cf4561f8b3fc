// Parses and checks the requests of the account API: account ids, and the bodies of Add and Update.
import { isValidPassword, isValidUsername, MAX_CREDENTIAL_BYTES } from '../../core/accounts/account.js';
import type { AccountChange, NewAccount } from '../../core/accounts/account-input.js';
import { ACCOUNT_FIELDS, isValidRemarks } from '../../core/accounts/fields/account-fields.js';
import { guidOf } from '../../core/ids.js';
import { parseWireDate } from '../../core/time/wire-date.js';
import { quoted, type Refusal, refusal } from '../answer.js';
import { type Fields, fieldsOf, kindOf } from '../request.js';

type Parsed<Value> = { readonly ok: true; readonly value: Value } | Refusal;

/** The usual form of the query: nothing to decode, and no second parameter that could have the same name. */
const PLAIN_QUERY = /^AID=([0-9a-f-]{36})$/i;

/** Reads the query parameter `AID` of a query string (without the question mark) into a lower-case GUID. */
export function parseAccountIdQuery(querystring: string): Parsed<string> {
  const [, plain] = PLAIN_QUERY.exec(querystring) ?? [];
  const guid = plain === undefined ? null : guidOf(plain);
  if (guid !== null) return { ok: true, value: guid };
  const named = fieldsOf(new URLSearchParams(querystring));
  return named.ok ? parseAccountId(named.fields) : named;
}

/** Reads the body of AddProxyAccount. */
export function parseNewAccount(fields: Fields): Parsed<NewAccount> {
  const username = textOrNull(fields, 'Username');
  if (!username.ok) return username;
  const password = textOrNull(fields, 'Password');
  if (!password.ok) return password;
  if (isBlank(username.value)) return refusal('empty-credentials', 'Username is missing or empty');
  if (isBlank(password.value)) return refusal('empty-credentials', 'Password is missing or empty');
  if (!isValidUsername(username.value)) return credentialRefusal('Username', username.value);
  if (!isValidPassword(password.value)) return credentialRefusal('Password', password.value);
  const change = parseChange(fields);
  if (!change.ok) return change;
  return { ok: true, value: { ...change.value, username: username.value, password: password.value } };
}

/** Reads the body of UpdateProxyAccount. A field that is left out gets the default it has on creation. */
export function parseChangedAccount(fields: Fields): Parsed<{ id: string; changes: AccountChange }> {
  const id = parseAccountId(fields);
  if (!id.ok) return id;
  const password = textOrNull(fields, 'Password');
  if (!password.ok) return password;
  const change = parseChange(fields);
  if (!change.ok) return change;
  if (isBlank(password.value)) return { ok: true, value: { id: id.value, changes: change.value } };
  if (!isValidPassword(password.value)) return credentialRefusal('Password', password.value);
  return { ok: true, value: { id: id.value, changes: { ...change.value, password: password.value } } };
}

function parseAccountId(fields: Fields): Parsed<string> {
  const id = textOrNull(fields, 'AID');
  if (!id.ok) return id;
  if (isBlank(id.value)) return refusal('empty-account-id', 'AID is missing or empty');
  const guid = guidOf(id.value);
  if (guid === null) {
    const expected = '8-4-4-4-12 hexadecimal digits';
    return refusal('invalid-account-id', `AID is ${quoted(id.value)}; expected ${expected}`);
  }
  return { ok: true, value: guid };
}

function parseChange(fields: Fields): Parsed<AccountChange> {
  const isEnabled = fields.get('isenabled') ?? ACCOUNT_FIELDS.isEnabled.initial;
  if (typeof isEnabled !== 'boolean' || fields.get('isenabled') === null) {
    return wrongType('IsEnabled', fields, 'true or false');
  }
  const remarks = textOrNull(fields, 'Remarks');
  if (!remarks.ok) return remarks;
  if (remarks.value !== null && !isValidRemarks(remarks.value)) {
    return refusal('malformed-request', 'Remarks holds U+0000 or half of a surrogate pair');
  }
  const expiresAt = parseExpiry(fields.get('expiresat') ?? null);
  if (!expiresAt.ok) return expiresAt;
  return { ok: true, value: { isEnabled, remarks: remarks.value, expiresAt: expiresAt.value } };
}

function parseExpiry(value: unknown): Parsed<number | null> {
  if (value === null) return { ok: true, value: null };
  const expiresAt = typeof value === 'string' ? parseWireDate(value) : null;
  if (expiresAt !== null) return { ok: true, value: expiresAt };
  const found = typeof value === 'string' ? quoted(value) : kindOf(value);
  return refusal(
    'malformed-date',
    `ExpiresAt is ${found}; expected null or yyyy-MM-ddTHH:mm:ss in UTC, also with Z, an offset or a fraction`,
  );
}

/** A string field; null and a missing field are the same. */
function textOrNull(fields: Fields, name: string): Parsed<string | null> {
  const value = fields.get(name.toLowerCase()) ?? null;
  if (value === null || typeof value === 'string') return { ok: true, value };
  return wrongType(name, fields, 'a string');
}

function wrongType(name: string, fields: Fields, allowed: string): Refusal {
  const found = kindOf(fields.get(name.toLowerCase()));
  return refusal('malformed-request', `${name} is of type ${found}; expected ${allowed}`);
}

/** Explains the length and the rule. The text quotes no part of the value. */
function credentialRefusal(name: 'Username' | 'Password', value: string): Refusal {
  const rule = name === 'Username' ? ' without control characters' : '';
  return refusal(
    'malformed-request',
    `${name} has ${Buffer.byteLength(value)} bytes; expected 1 to ${MAX_CREDENTIAL_BYTES} bytes of UTF-8${rule}`,
  );
}

const isBlank = (text: string | null): text is null => text === null || text.trim() === '';
