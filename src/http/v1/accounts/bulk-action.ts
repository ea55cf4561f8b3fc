// The actions of a bulk change, and why one is refused before any account is looked at.
import { z } from 'zod';
import { readAllowedClients } from '../../../core/accounts/access/allowed-clients.js';
import { isSchedule, storedSchedule } from '../../../core/accounts/access/schedule.js';
import { isValidTag } from '../../../core/accounts/fields/tags.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { Guid, TimeIn } from '../../api/schemas.js';
import type { Caller } from '../../caller.js';
import type { Services } from '../../services.js';
import { AccessChange, AccountLimitsChange, ContactsChange, Tags } from './field-schemas.js';
import {
  explained,
  noPlan,
  PATCH_PROBLEMS,
  refuseContacts,
  refuseEgressClass,
  refuseOwner,
} from './shared.js';

export const BulkAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enable') }),
  z.object({ type: z.literal('disable') }),
  z.object({ type: z.literal('delete') }),
  z.object({ type: z.literal('reset-password') }),
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
export function refuseAction(deps: Services, action: BulkAction, caller: Caller): ProblemAnswer | null {
  switch (action.type) {
    case 'set-limits':
      return refuseEgressClass(deps, action.limits, caller);
    case 'hand-over':
      return refuseOwner(deps, action.owner, caller, 'body.action.owner');
    case 'tag':
      return action.add.every(isValidTag) ? null : PATCH_PROBLEMS['invalid-tags'];
    case 'set-contacts':
      return refuseContacts(action.contacts, 'body.action.contacts');
    case 'set-access':
      return refuseAccess(deps, action.access);
    case 'plan':
      return action.plan === null || deps.plans.byName(action.plan) ? null : noPlan('body.action.plan');
    default:
      return null;
  }
}

function refuseAccess(
  { accounts }: Pick<Services, 'accounts'>,
  { allowedClients = [], schedule = null }: z.infer<typeof AccessChange>,
): ProblemAnswer | null {
  const path = 'body.action.access';
  const clients = readAllowedClients(allowedClients, accounts.maxAllowedClients);
  if (!clients.ok) {
    const reason = 'invalid-allowed-clients';
    return explained(PATCH_PROBLEMS[reason], { reason, address: clients.refusal }, path);
  }
  return isSchedule(schedule) ? null : invalid(`${path}.schedule`, 'schedule');
}

/** Returns the action with addresses and schedule as accounts store them: read once for all accounts. It must not be refused. */
export function asStored({ accounts }: Pick<Services, 'accounts'>, action: BulkAction): BulkAction {
  if (action.type !== 'set-access') return action;
  const { allowedClients, schedule } = action.access;
  const read = allowedClients && readAllowedClients(allowedClients, accounts.maxAllowedClients);
  return {
    ...action,
    access: {
      allowedClients: read?.ok ? [...read.addresses] : undefined,
      schedule: schedule === undefined ? undefined : storedSchedule(schedule),
    },
  };
}
