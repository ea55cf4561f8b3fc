// /api/v1/settings/plans: the plans by which accounts are created, renewed and upgraded.
import { z } from 'zod';
import { isPlanName, MAX_PLAN_DAYS, MAX_PLAN_NAME, MAX_PLANS } from '../../../core/accounts/plans/plans.js';
import type { PlansSetting } from '../../../core/accounts/plans/plans-setting.js';
import { etagOf, refuseChanged } from '../../api/etag.js';
import { fault } from '../../api/field-errors.js';
import { invalid } from '../../api/problem.js';
import { type Answered, routesOf } from '../../api/route.js';
import { actorOf } from '../../caller.js';
import { AccountLimits } from '../accounts/field-schemas.js';

const PlanLimits = AccountLimits.omit({ egressClass: true }).meta({ id: 'PlanLimits' });

const Plan = z
  .object({
    name: z.string().min(1).max(MAX_PLAN_NAME).refine(isPlanName, fault('plan-name')),
    /** Duration in days; null: without end. */
    days: z.int().min(1).max(MAX_PLAN_DAYS).nullable(),
    /** The days of an account that has never logged in start at its first login. */
    startsAtFirstLogin: z.boolean(),
    limits: PlanLimits,
  })
  .meta({ id: 'Plan' });

const Plans = z.object({ plans: z.array(Plan).max(MAX_PLANS) }).meta({ id: 'Plans' });

const { route } = routesOf('Settings');
const path = '/api/v1/settings/plans';

export const planRoutes = [
  route(
    {
      method: 'GET',
      path,
      operationId: 'getPlans',
      summary: 'The plans, in the order in which they are offered.',
      access: 'accounts:read',
      etag: true,
      request: {},
      responses: { 200: { description: 'All of them.', schema: Plans } },
    },
    async (_input, { plans }) => shown(plans),
  ),
  route(
    {
      method: 'PUT',
      path,
      operationId: 'setPlans',
      summary: 'Saves all plans; existing accounts of a changed or removed plan stay unchanged.',
      access: 'settings:write',
      etag: true,
      bulkBody: true,
      request: { body: Plans },
      responses: { 200: { description: 'As saved.', schema: Plans } },
      problems: [412],
    },
    async ({ body, caller, ifMatch }, { plans, onSettingChanged }) => {
      const names = body.plans.map(({ name }) => name);
      const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
      if (twice >= 0) return invalid(`body.plans.${twice}.name`, 'plan-twice');
      const refused = await plans.save(
        () => body.plans,
        actorOf(caller),
        (stored) => refuseChanged(ifMatch, etagOf(stored)),
      );
      if (refused) return refused;
      onSettingChanged();
      return shown(plans);
    },
  ),
];

function shown(plans: PlansSetting): Answered {
  const list = plans.list();
  return { status: 200, body: { plans: list }, headers: { ETag: etagOf(list) } };
}
