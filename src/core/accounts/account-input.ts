// A change that a caller asks of an account: its check before the database is accessed, and the account that it makes.
import { hashPassword } from './access/password.js';
import { type Account, type AccountLink, isValidPassword, isValidUsername } from './account.js';
import type { FieldName, FieldReason, GivenFields, Need, RefusedAddress } from './fields/account-fields.js';
import { FIELDS, fieldReason, INITIAL_FIELDS, storedFields } from './fields/account-fields.js';
import { type Contacts, changedContacts, NO_CONTACTS, wrongContact } from './fields/contacts.js';
import { type AccountLimits, EGRESS_LIMITS, NO_LIMITS } from './usage/limits.js';

/** Undefined fields are not changed; of a new account they have their initial value. `expiresAt` in ms since the epoch. */
export interface AccountChange extends GivenFields {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** From an import, instead of a password. */
  readonly passwordHash?: string | undefined;
  /** null: clients no longer get in by the link. */
  readonly link?: AccountLink | null | undefined;
  readonly limits?: Partial<AccountLimits> | undefined;
  readonly contacts?: Partial<Contacts> | undefined;
}

export interface NewAccount extends AccountChange {
  readonly username: string;
  readonly password: string;
}

type FieldRefusal =
  | 'invalid-password'
  | FieldReason
  | 'invalid-email'
  | 'invalid-telegram'
  | 'unknown-egress-class'
  | RefusedAddress['reason'];
export type UpdateRefusal = FieldRefusal | 'not-found';
export type RenameRefusal = 'invalid-username' | 'username-taken';
export type AddRefusal = FieldRefusal | 'empty-credentials' | RenameRefusal;

/** What accounts may name. Each is always true for null, the default. */
export interface Named {
  readonly hasEgressClass: (name: string | null) => boolean;
  /** @param owner of the account, whose accounts may use the exit; null or left out: the administrator */
  readonly hasExit: (name: string | null, owner?: string | null) => boolean;
}

/** Why `input` cannot become an account; null: it can. Whether the name is taken is known only when it is written. */
export function newAccountRefusal(input: NewAccount, named: Named): AddRefusal | null {
  if (input.username.trim() === '' || input.password.trim() === '') return 'empty-credentials';
  if (!isValidUsername(input.username)) return 'invalid-username';
  return changeRefusal(input, { limits: NO_LIMITS, exit: null, owner: null }, named);
}

/**
 * Why an account cannot be changed in this way; null: it can. Its lists of addresses are checked by `readAddressLists`.
 * @param stored an account may keep an egress class that the configuration no longer has, and an exit that is no more or that its
 *   owner has no more
 */
export function changeRefusal(
  change: AccountChange,
  stored: Pick<Account, 'limits' | 'exit' | 'owner'>,
  named: Named,
): FieldRefusal | null {
  if (change.password !== undefined && !isValidPassword(change.password)) return 'invalid-password';
  const reason = fieldReason(change) ?? contactsReason(change);
  if (reason !== null) return reason;
  const { exit = stored.exit, owner = stored.owner } = change;
  if (exit !== stored.exit && !named.hasExit(exit, owner)) return 'unknown-exit';
  const { egressClass = stored.limits.egressClass } = change.limits ?? {};
  const isOther = egressClass !== stored.limits.egressClass;
  return isOther && !named.hasEgressClass(egressClass) ? 'unknown-egress-class' : null;
}

/** Those of `present` that are undefined are unknown: each given value counts as another one. */
type Present = { readonly [K in FieldName]?: unknown } & { readonly limits?: AccountLimits };

/** Fields that not everybody who changes accounts may set. */
const RESTRICTED = FIELDS.filter(([, { needs }]) => needs !== undefined);

/** What a caller needs to make a change, besides the right to change accounts. */
export function needsOf(
  change: { readonly [K in FieldName | 'limits']?: unknown },
  present: Present,
  isSeller: boolean,
): readonly Need[] {
  const needs: Need[] = [];
  for (const [name, field] of RESTRICTED) {
    const isOther = change[name] !== undefined && change[name] !== present[name];
    if (!isOther || (isSeller && field.setBy.sellers)) continue;
    const need = typeof field.needs === 'function' ? field.needs(present) : field.needs;
    if (need) needs.push(need);
  }
  const limits: { readonly [Name in keyof AccountLimits]?: unknown } = change.limits ?? {};
  const isOther = EGRESS_LIMITS.some(
    (name) => limits[name] !== undefined && limits[name] !== present.limits?.[name],
  );
  return isOther ? [...needs, 'egress:write'] : needs;
}

/** Why the contacts of a change are invalid; null: they are valid, or there are none. */
export function contactsReason({
  contacts = {},
}: Pick<AccountChange, 'contacts'>): 'invalid-email' | 'invalid-telegram' | null {
  const wrong = wrongContact(contacts);
  return wrong && `invalid-${wrong}`;
}

/** The account that `input` makes at `createdAt`. An imported account may have a hash in place of a password. */
export function newAccount(
  input: AccountChange & Pick<NewAccount, 'username'>,
  id: string,
  createdAt: number,
): Account {
  const blank: Account = {
    id,
    username: input.username,
    passwordHash: '',
    passwordVersion: -1,
    link: null,
    createdAt,
    lastLoginAt: null,
    ...INITIAL_FIELDS,
    limits: NO_LIMITS,
    quotaReset: null,
    contacts: NO_CONTACTS,
  };
  return changed(blank, input);
}

/** The account after a change, which must not be refused. */
export function changed(account: Account, change: AccountChange): Account {
  const { username = account.username, password, limits, contacts } = change;
  const passwordHash =
    password === undefined ? (change.passwordHash ?? account.passwordHash) : hashPassword(password);
  return {
    ...account,
    username,
    passwordHash,
    // Another hash of the same password does not reach this function.
    passwordVersion: account.passwordVersion + (passwordHash === account.passwordHash ? 0 : 1),
    link: linkAfter(account, change),
    ...storedFields(change),
    ...expiryOrWait(change),
    ...(change.suspendedUntil === null ? { suspendReason: null } : {}),
    limits: limits ? { ...account.limits, ...limits } : account.limits,
    contacts: changedContacts(account.contacts, contacts),
  };
}

/** The former owner of an account knows its link. */
function linkAfter({ link, owner }: Account, change: AccountChange): AccountLink | null {
  const isTransferred = owner !== (change.owner === undefined ? owner : change.owner);
  return change.link === undefined ? (isTransferred ? null : link) : change.link;
}

/** An account either waits for its first login or has an expiry: setting one clears the other. */
function expiryOrWait({ daysFromFirstLogin, expiresAt }: AccountChange): Partial<Account> {
  if (daysFromFirstLogin != null) return { expiresAt: null };
  return expiresAt === undefined ? {} : { daysFromFirstLogin: null };
}
