// The actions of a bulk change, and why one is refused before any account is looked at.
import { z } from 'zod';
import { contactsReason } from '../../../core/accounts/account-input.js';
import {
  fieldReason,
  isValidRemarks,
  readAddressLists,
  storedFields,
} from '../../../core/accounts/fields/account-fields.js';
import { isValidTag } from '../../../core/accounts/fields/contacts.js';
import { isByGuard } from '../../../core/accounts/usage/guard.js';
import { fromIsoOrNull } from '../../../core/time/clock.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { fault, Guid, TimeIn } from '../../api/schemas.js';
import { callerProblem } from '../../api/serve.js';
import type { Caller } from '../../caller.js';
import type { Services } from '../../services.js';
import { AccessChange, AccountLimitsChange, ContactsChange, FieldsOfAnswers, Tags } from './field-schemas.js';
import { type Changes, changeOf, namesProblem, noPlan, problemOf, rightsProblem } from './shared.js';

/** Characters. */
const MAX_SUSPEND_REASON = 200;

export const BulkAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enable') }),
  z.object({ type: z.literal('disable') }),
  z.object({ type: z.literal('delete') }),
  z.object({ type: z.literal('reset-password') }),
  z.object({ type: z.literal('reset-usage') }),
  /** Needs sessions:write. */
  z.object({ type: z.literal('end-sessions') }),
  /** Refuses logins and ends sessions, until a time or until it is lifted (null). The player is told the reason. */
  z.object({
    type: z.literal('suspend'),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(MAX_SUSPEND_REASON)
      .refine(isValidRemarks, fault('not-storable'))
      .refine((text) => !isByGuard(text), fault('guard-reason')),
    until: TimeIn.nullable().default(null),
  }),
  /** Lifts a suspension; with `ofGuard` also one by the guard, which needs egress:write. */
  z.object({ type: z.literal('resume'), ofGuard: z.boolean().default(false) }),
  /** A tag in both lists is removed. */
  z.object({ type: z.literal('tag'), add: Tags.default([]), remove: Tags.default([]) }),
  /**
   * Renews by a plan, or upgrades to one; null: each account by its own plan. `renew` adds the plan's days to the later of now and
   * the old expiry, and adds the plan's quota, if it never resets, to the rest of the old one. `upgrade` leaves the expiry
   * unchanged, and raises the rest of a quota that never resets to at least the plan's quota.
   */
  z.object({
    type: z.literal('plan'),
    plan: z.string().max(64).nullable(),
    use: z.enum(['renew', 'upgrade']),
  }),
  /** Changes the owner to a seller, or to the administrator (null). Only the administrator may do this. */
  z.object({ type: z.literal('hand-over'), owner: Guid.nullable() }),
  z.object({ type: z.literal('set-limits'), limits: AccountLimitsChange }),
  /** New sessions of the accounts leave by this exit. Needs egress:write. */
  z.object({ type: z.literal('set-exit'), exit: FieldsOfAnswers.shape.exit }),
  /** Changes the parts of the contacts that it contains. */
  z.object({ type: z.literal('set-contacts'), contacts: ContactsChange }),
  /** Changes from where and when the accounts may log in: the fields that it contains. An empty list or null: everywhere, always. */
  z.object({ type: z.literal('set-access'), access: AccessChange }),
  z.object({ type: z.literal('set-expiry'), expiresAt: TimeIn.nullable() }),
  z.object({
    type: z.literal('extend'),
    days: z.int().min(-3_650).max(3_650),
    /**
     * The start of the days. `expiry`: the old expiry; `now`: this moment; `later`: the later of the two. `expiry` and `later` skip
     * an account that never expires.
     */
    from: z.enum(['expiry', 'now', 'later']),
  }),
]);
export type BulkAction = z.infer<typeof BulkAction>;

/** Returns the problem of an action that no account could have; null: there is none. */
export function actionProblem(deps: Services, action: BulkAction, caller: Caller): ProblemAnswer | null {
  const given = action as Changes;
  const refused = rightsProblem(caller, given, {}) ?? namesProblem(deps, given, 'body.action');
  if (refused) return refused;
  switch (action.type) {
    case 'tag':
      return action.add.every(isValidTag) ? null : problemOf({ reason: 'invalid-tags' });
    case 'set-contacts': {
      const reason = contactsReason(changeOf(action));
      return reason && problemOf({ reason }, 'body.action');
    }
    case 'set-access':
      return accessProblem(deps, action.access);
    case 'end-sessions':
      return callerProblem(caller, 'sessions:write');
    case 'suspend': {
      const until = fromIsoOrNull(action.until);
      return until !== null && until <= deps.now() ? invalid('body.action.until', 'past-time') : null;
    }
    case 'resume':
      return action.ofGuard ? callerProblem(caller, 'egress:write') : null;
    case 'plan':
      return action.plan === null || deps.plans.byName(action.plan) ? null : noPlan('body.action.plan');
    default:
      return null;
  }
}

function accessProblem(
  { accounts }: Pick<Services, 'accounts'>,
  access: z.infer<typeof AccessChange>,
): ProblemAnswer | null {
  const reason = fieldReason(access);
  const refused = reason === null ? readAddressLists(access, accounts) : ({ ok: false, reason } as const);
  return refused.ok ? null : problemOf(refused, 'body.action.access');
}

/** Returns the action with addresses and schedule as accounts store them: read once for all accounts. It must not be refused. */
export function asStored({ accounts }: Pick<Services, 'accounts'>, action: BulkAction): BulkAction {
  if (action.type !== 'set-access') return action;
  const read = readAddressLists(action.access, accounts);
  const access = { ...action.access, ...storedFields(read.ok ? read.change : {}) };
  return { ...action, access: access as typeof action.access };
}
