// Shared code of the account routes: their dependencies, the problems of refused changes, sort keys, and the checks of egress class,
// owner, contacts and plan.

import type { AddressRefusal } from '../../../core/accounts/access/address-list.js';
import type { Account } from '../../../core/accounts/account.js';
import type { AccountFacts } from '../../../core/accounts/account-query.js';
import type { AccountView } from '../../../core/accounts/account-views.js';
import type { Accounts } from '../../../core/accounts/accounts.js';
import { type Contacts, wrongContact } from '../../../core/accounts/fields/contacts.js';
import { MAX_TAG_CHARS, MAX_TAGS } from '../../../core/accounts/fields/tags.js';
import { planForNew } from '../../../core/accounts/plans/plans.js';
import type { AccountLimits } from '../../../core/accounts/usage/limits.js';
import type { Operators } from '../../../core/auth/operators.js';
import { fromIsoOrNull } from '../../../core/clock.js';
import { WIRE_DATE_RANGE } from '../../../core/wire-date.js';
import { fieldError } from '../../api/field-errors.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { because } from '../../api/problem-reasons.js';
import { refuseCaller } from '../../api/serve.js';
import type { Caller } from '../../caller.js';
import type { Services } from '../../services.js';
import type { SortKeys } from '../sorted.js';
import { withoutUndefined } from '../without-undefined.js';

export const NO_ACCOUNT: ProblemAnswer = { problem: 'not-found', ...because('no-account') };

/** The problem for each refusal of a change. */
export const PATCH_PROBLEMS = {
  'invalid-username': invalid('body.username', 'username'),
  'username-taken': { problem: 'username-taken' },
  'invalid-password': invalid('body.password', 'password'),
  'invalid-remarks': invalid('body.remarks', 'not-storable'),
  'invalid-tags': invalid('body.tags', 'tags', { max: MAX_TAGS, maxCharacters: MAX_TAG_CHARS }),
  'invalid-expiry': invalid('body.expiresAt', 'time', { range: WIRE_DATE_RANGE }),
  'invalid-schedule': invalid('body.schedule', 'schedule'),
  'invalid-email': invalid('body.contacts.email', 'mail-address'),
  'invalid-telegram': invalid('body.contacts.telegram', 'chat-id'),
  'unknown-egress-class': unknownEgressClass('body.limits'),
  'invalid-addresses': { problem: 'validation' },
  'invalid-allowed-clients': { problem: 'validation' },
  'address-taken': { problem: 'address-taken' },
  'not-found': NO_ACCOUNT,
  'changed-meanwhile': {
    problem: 'changed-meanwhile',
    ...because('account-changed'),
  },
} as const;

/** Answers a refusal. For a list of addresses the answer explains what is wrong with it. @param path path of the list's object */
export function explained(
  answer: ProblemAnswer,
  { reason, address }: { readonly reason: string; readonly address?: AddressRefusal },
  path = 'body',
): ProblemAnswer {
  if (address === undefined) return answer;
  const list = reason === 'invalid-allowed-clients' ? 'allowedClients' : 'authorizedAddresses';
  const error = fieldError(`${path}.${list}`, address.code, address.values);
  return { ...answer, detail: error.message, errors: [error] };
}

/** Returns the problem of invalid contacts; null when they are valid. @param path path of the contacts in the body */
export function refuseContacts(
  contacts: ContactsIn | undefined,
  path = 'body.contacts',
): ProblemAnswer | null {
  const wrong = contacts && wrongContact(contacts);
  if (!wrong) return null;
  return invalid(`${path}.${wrong}`, wrong === 'email' ? 'mail-address' : 'chat-id');
}

type ContactsIn = { readonly [K in keyof Contacts]?: Contacts[K] | undefined };

export function contactsOf({ contacts }: { readonly contacts?: ContactsIn | undefined }) {
  return contacts && withoutUndefined<Partial<Contacts>>(contacts);
}

type LimitsIn = { readonly [K in keyof AccountLimits]?: AccountLimits[K] | undefined };

export function limitsOf({ limits }: { readonly limits?: LimitsIn | undefined }) {
  return limits && withoutUndefined<Partial<AccountLimits>>(limits);
}

export function accountFacts({ usage, sessions }: Pick<Services, 'usage' | 'sessions'>): AccountFacts {
  return { isOnline: (id) => sessions.countOf(id) > 0, isOverQuota: usage.isOverQuota };
}

/** Returns the sort keys of lists of accounts. */
export function accountSortKeys({ sessions, activity, usage }: Services): SortKeys<AccountView> {
  return {
    username: ({ account }) => account.username,
    createdAt: ({ account }) => account.createdAt,
    lastLoginAt: ({ account }) => account.lastLoginAt,
    expiresAt: ({ account }) => account.expiresAt,
    dataCount: ({ dataCount }) => dataCount,
    latestGameId: ({ latestGameId }) => latestGameId,
    sessions: ({ account }) => sessions.countOf(account.id),
    todayBytes: ({ account }) => activity.todayOf(account.id).up + activity.todayOf(account.id).down,
    periodBytes: ({ account }) => usage.lastView(account).periodBytes,
  };
}

/**
 * Checks, before anything is written, that the limits name a configured egress class and that the caller may choose it. Returns
 * null if both hold.
 * @param present the class of the account; undefined: there are several accounts, or it is unknown
 * @param path path of the limits in the body, for the error
 */
export function refuseEgressClass(
  { accounts }: { readonly accounts: Pick<Accounts, 'hasEgressClass'> },
  change: { readonly egressClass?: string | null | undefined } | undefined,
  caller: Caller,
  present?: string | null,
  path = 'body.limits',
): ProblemAnswer | null {
  if (change?.egressClass === undefined || change.egressClass === present) return null;
  const refused = refuseCaller(caller, 'egress:write');
  if (refused) return refused;
  if (accounts.hasEgressClass(change.egressClass)) return null;
  return unknownEgressClass(path);
}

/** Returns the seller that owns an account, with the name; null: the administrator. */
export function ownerOf(
  { operators }: { readonly operators: Pick<Operators, 'get'> },
  { owner }: Account,
): { readonly id: string; readonly name: string } | null {
  return owner === null ? null : { id: owner, name: operators.get(owner)?.name ?? owner };
}

/** Checks that the caller may change the owner, and that `owner` can be one; null if both hold. @param path path for the error */
export function refuseOwner(
  { operators }: { readonly operators: Pick<Operators, 'get'> },
  owner: string | null | undefined,
  caller: Caller,
  path: string,
): ProblemAnswer | null {
  if (owner === undefined) return null;
  const refused = refuseCaller(caller, 'administrator');
  if (refused || owner === null) return refused;
  return operators.get(owner.toLowerCase())?.role === 'seller' ? null : invalid(path, 'seller');
}

export function unknownEgressClass(path: string): ProblemAnswer {
  return invalid(`${path}.egressClass`, 'egress-class');
}

export const noPlan = (path: string): ProblemAnswer => invalid(path, 'plan');

interface NewTerms {
  readonly expiresAt: number | null;
  readonly daysFromFirstLogin?: number | null | undefined;
  readonly plan?: string | null | undefined;
  readonly limits: Partial<AccountLimits> | undefined;
}

/** Returns expiry and limits of a new account: those of the named plan, overridden by explicit values. */
export function termsOfNew(
  { plans, now }: Pick<Services, 'plans' | 'now'>,
  body: {
    readonly expiresAt: string | null;
    readonly plan?: string | undefined;
    readonly limits?: LimitsIn | undefined;
  },
): NewTerms | ProblemAnswer {
  const expiresAt = fromIsoOrNull(body.expiresAt);
  const limits = limitsOf(body);
  if (body.plan === undefined) return { expiresAt, limits };
  const plan = plans.byName(body.plan);
  if (!plan) return noPlan('body.plan');
  const terms = planForNew(plan, now());
  const dated = expiresAt === null ? terms : { ...terms, expiresAt, daysFromFirstLogin: null };
  return { ...dated, limits: { ...terms.limits, ...limits } };
}
