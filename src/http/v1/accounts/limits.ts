// /api/v1/accounts/{id}/limits: what an account may use, and what it has used.
import { z } from 'zod';
import type { AccountLimitsService, LimitsView } from '../../../core/accounts/account-limits.js';
import type { Accounts } from '../../../core/accounts/accounts.js';
import type { AccountLimits as Limits } from '../../../core/accounts/limits.js';
import { actorOf } from '../../caller.js';
import { etagOf, matches } from '../etag.js';
import { type Answered, routesOf } from '../route.js';
import { IdParams } from '../schemas.js';
import { withoutUndefined } from '../without-undefined.js';
import { presentUsage } from './present.js';
import { AccountLimits, AccountLimitsChange, AccountUsage } from './schemas.js';
import { NO_ACCOUNT, refuseEgressClass, unknownEgressClass } from './shared.js';

export interface LimitUses {
  readonly accounts: Pick<Accounts, 'get'>;
  readonly limits: AccountLimitsService;
}

const { route } = routesOf<LimitUses>('Accounts');
const path = '/api/v1/accounts/{id}/limits';
const LimitsAndUsage = z
  .object({ limits: AccountLimits, usage: AccountUsage })
  .meta({ id: 'LimitsAndUsage' });

export const limitRoutes = [
  route(
    {
      method: 'GET',
      path,
      operationId: 'getAccountLimits',
      summary: 'Limits of an account and what it has used of them.',
      access: 'accounts:read',
      etag: true,
      request: { params: IdParams },
      responses: { 200: { description: 'Limits and usage.', schema: LimitsAndUsage } },
      problems: [404],
    },
    async ({ params }, { accounts, limits }) => {
      const id = params.id.toLowerCase();
      return accounts.get(id) ? shown(limits.view(id)) : NO_ACCOUNT;
    },
  ),
  route(
    {
      method: 'PATCH',
      path,
      operationId: 'changeAccountLimits',
      summary: 'Changes the limits given; they hold for live sessions at once.',
      access: 'accounts:write',
      etag: true,
      request: { params: IdParams, body: AccountLimitsChange },
      responses: { 200: { description: 'Limits and usage as they are now.', schema: LimitsAndUsage } },
      problems: [404, 412],
    },
    async ({ params, body, ifMatch, caller }, { accounts, limits }) => {
      const id = params.id.toLowerCase();
      if (!accounts.get(id)) return NO_ACCOUNT;
      const present = limits.view(id).limits;
      if (!matches(ifMatch, etagOf(present))) {
        return { problem: 'changed-meanwhile', detail: 'the limits are no longer those of this ETag' };
      }
      const wrong = refuseEgressClass({ limits }, body, caller, present.egressClass, 'body');
      if (wrong) return wrong;
      const changed = await limits.change(id, withoutUndefined<Partial<Limits>>(body), actorOf(caller));
      if (changed.ok) return shown(limits.view(id));
      return changed.reason === 'not-found' ? NO_ACCOUNT : unknownEgressClass('body');
    },
  ),
  route(
    {
      method: 'POST',
      path: '/api/v1/accounts/{id}/usage/reset',
      operationId: 'resetAccountUsage',
      summary: 'Starts the quota period again from nothing; the history per day stays.',
      access: 'accounts:write',
      request: { params: IdParams },
      responses: { 200: { description: 'Limits and usage as they are now.', schema: LimitsAndUsage } },
      problems: [404],
    },
    async ({ params, caller }, { limits }) => {
      const id = params.id.toLowerCase();
      return (await limits.reset(id, actorOf(caller))) ? shown(limits.view(id)) : NO_ACCOUNT;
    },
  ),
];

function shown({ limits, usage }: LimitsView): Answered {
  const body = { limits, usage: presentUsage(usage) };
  return { status: 200, body, headers: { ETag: etagOf(limits) } };
}
