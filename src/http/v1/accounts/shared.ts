// Shared code of the account routes: filters, the changes that requests ask for, the problems of refused ones, sort keys, and the
// checks of egress class, owner and plan.
import type { z } from 'zod';
import type { Account } from '../../../core/accounts/account.js';
import { type AccountChange, type AddRefusal, needsOf } from '../../../core/accounts/account-input.js';
import { type AccountFacts, type AccountView, accountMatcher } from '../../../core/accounts/account-query.js';
import type { PatchRefusal, Refused } from '../../../core/accounts/accounts.js';
import { FIELDS, type FieldReason, INITIAL_FIELDS } from '../../../core/accounts/fields/account-fields.js';
import type { Contacts } from '../../../core/accounts/fields/contacts.js';
import { planForNew } from '../../../core/accounts/plans/plans.js';
import { type AccountLimits, NO_LIMITS } from '../../../core/accounts/usage/limits.js';
import type { Operators } from '../../../core/auth/operators.js';
import { withoutUndefined } from '../../../core/maps.js';
import { fromIsoOrNull } from '../../../core/time/clock.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { type FieldCode, type FieldValues, fieldError } from '../../api/schemas.js';
import { callerProblem } from '../../api/serve.js';
import { type Caller, isSeller } from '../../caller.js';
import type { Services } from '../../services.js';
import type { AccountFilter } from './schemas.js';

export const NO_ACCOUNT: ProblemAnswer = failure('not-found', 'no-account');

type ChangeRefusal = AddRefusal | PatchRefusal;

/** The field and the error of refusals that are about one field of the request, beside those of the table of fields. */
const FIELD_ERRORS = {
  'empty-credentials': ['username', 'username'],
  'invalid-username': ['username', 'username'],
  'invalid-password': ['password', 'password'],
  'invalid-email': ['contacts.email', 'mail-address'],
  'invalid-telegram': ['contacts.telegram', 'chat-id'],
  'unknown-egress-class': ['limits.egressClass', 'egress-class'],
} as const;

const OTHER_PROBLEMS: Readonly<
  Record<Exclude<ChangeRefusal, FieldReason | keyof typeof FIELD_ERRORS>, ProblemAnswer>
> = {
  'username-taken': { problem: 'username-taken' },
  'address-taken': { problem: 'address-taken' },
  'not-found': NO_ACCOUNT,
  'changed-meanwhile': failure('changed-meanwhile', 'account-changed'),
};

/** Returns where a request is wrong, and the error; null: the refusal is about something else. */
function fieldErrorOf(
  reason: ChangeRefusal,
): readonly [field: string, code: FieldCode, values?: FieldValues | undefined] | null {
  if (reason in FIELD_ERRORS) return FIELD_ERRORS[reason as keyof typeof FIELD_ERRORS];
  const [name, { error }] = FIELDS.find(([, field]) => field.reason === reason) ?? ['', {}];
  return error ? [name, error[0] as FieldCode, error[1]] : null;
}

/** Returns the problem of a refused account or change. @param path path of the object with the fields */
export function problemOf(
  { reason, address, list }: Omit<Refused<ChangeRefusal>, 'ok'>,
  path = 'body',
): ProblemAnswer {
  const wrong = fieldErrorOf(reason);
  if (wrong) return invalid(`${path}.${wrong[0]}`, wrong[1], wrong[2]);
  const problem: ProblemAnswer = OTHER_PROBLEMS[reason as keyof typeof OTHER_PROBLEMS] ?? {
    problem: 'validation',
  };
  if (address === undefined) return problem;
  const error = fieldError(`${path}.${list}`, address.code, address.values);
  return { ...problem, detail: error.message, errors: [error] };
}

type Unset<T> = { readonly [K in keyof T]?: T[K] | undefined };

export interface Changes extends Omit<AccountChange, 'expiresAt' | 'limits' | 'contacts'> {
  readonly expiresAt?: string | null | undefined;
  readonly limits?: Unset<AccountLimits> | undefined;
  readonly contacts?: Unset<Contacts> | undefined;
}

/** Returns the change that the fields of a request ask for: times in ms since the epoch. */
export function changeOf({ expiresAt, limits, contacts, ...fields }: Changes): AccountChange {
  return {
    ...fields,
    expiresAt: expiresAt === undefined ? undefined : fromIsoOrNull(expiresAt),
    limits: limits && withoutUndefined<Partial<AccountLimits>>(limits),
    contacts: contacts && withoutUndefined<Partial<Contacts>>(contacts),
  };
}

function accountFacts({ usage, sessions }: Pick<Services, 'usage' | 'sessions'>): AccountFacts {
  return { isOnline: (id) => sessions.countOf(id) > 0, isOverQuota: usage.isOverQuota };
}

/** What a new account has before a request says otherwise. */
export const NO_SETTINGS = { ...INITIAL_FIELDS, limits: NO_LIMITS };

/** Returns the problem of a caller who may not change `present` so; null: it may. */
export function rightsProblem(
  caller: Caller,
  ...change: [Parameters<typeof needsOf>[0], Parameters<typeof needsOf>[1]]
): ProblemAnswer | null {
  const refused = needsOf(...change, isSeller(caller)).map((need) => callerProblem(caller, need));
  return refused.find((problem) => problem !== null) ?? null;
}

/** Checks that there are the class, the exit and the seller that a change names; null: there are. @param path path of the change */
export function namesProblem(
  { accounts, operators }: Pick<Services, 'accounts' | 'operators'>,
  { limits = {}, exit = null, owner = null }: Pick<Changes, 'limits' | 'exit' | 'owner'>,
  path = 'body',
): ProblemAnswer | null {
  const { egressClass = null } = limits;
  if (!accounts.hasEgressClass(egressClass)) return invalid(`${path}.limits.egressClass`, 'egress-class');
  if (!accounts.hasExit(exit)) return invalid(`${path}.exit`, 'exit');
  const isOwner = owner === null || operators.get(owner)?.role === 'seller';
  return isOwner ? null : invalid(`${path}.owner`, 'seller');
}

/** Returns the seller that owns an account, with the name; null: the administrator. */
export function ownerOf(
  { operators }: { readonly operators: Pick<Operators, 'get'> },
  { owner }: Account,
): { readonly id: string; readonly name: string } | null {
  return owner === null ? null : { id: owner, name: operators.get(owner)?.name ?? owner };
}

export const noPlan = (path: string): ProblemAnswer => invalid(path, 'plan');

/** Returns the change with the terms of the named plan, overridden by explicit values. */
export function withTerms(
  { plans, accounts, now }: Pick<Services, 'plans' | 'accounts' | 'now'>,
  change: AccountChange,
  name: string | undefined,
): AccountChange | ProblemAnswer {
  if (name === undefined) return change;
  const plan = plans.byName(name);
  if (!plan) return noPlan('body.plan');
  const terms = planForNew(plan, now());
  const { expiresAt = null, exit = terms.exit } = change;
  if (!accounts.hasExit(exit ?? null)) return invalid('body.plan', 'exit');
  const dated = expiresAt === null ? terms : { ...terms, expiresAt, daysFromFirstLogin: null };
  return {
    ...change,
    ...dated,
    exit,
    limits: { ...terms.limits, ...change.limits },
  };
}

export function matcherFor(
  deps: Pick<Services, 'sessions' | 'usage'>,
  { expiresFrom, expiresBefore, ...filter }: z.output<typeof AccountFilter>,
  now: number,
): (view: AccountView) => boolean {
  const msOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const times = { expiresFrom: msOf(expiresFrom), expiresBefore: msOf(expiresBefore) };
  return accountMatcher({ ...filter, ...times }, accountFacts(deps), now);
}
