// /api/v1/settings/plans: the plans by which accounts are created, renewed and upgraded.
import { z } from 'zod';
import { isPlanName, MAX_PLAN_DAYS, MAX_PLAN_NAME, MAX_PLANS } from '../../../core/accounts/plans/plans.js';
import { EXIT_NAME } from '../../../core/exits/exit.js';
import { invalid } from '../../api/problem.js';
import { fault } from '../../api/schemas.js';
import { AccountLimits } from '../accounts/field-schemas.js';
import { settingRoutes } from './setting-routes.js';

const { connectionsPerMinute, destinationsPerMinute, lookupsPerMinute } = AccountLimits.shape;

/** Scripts of earlier versions do not know the last three. */
const PlanLimits = AccountLimits.omit({ egressClass: true })
  .extend({
    connectionsPerMinute: connectionsPerMinute.default(null),
    destinationsPerMinute: destinationsPerMinute.default(null),
    lookupsPerMinute: lookupsPerMinute.default(null),
  })
  .meta({ id: 'PlanLimits' });

const Plan = z
  .object({
    name: z.string().min(1).max(MAX_PLAN_NAME).refine(isPlanName, fault('plan-name')),
    /** Duration in days; null: without end. */
    days: z.int().min(1).max(MAX_PLAN_DAYS).nullable(),
    /** The days of an account that has never logged in start at its first login. */
    startsAtFirstLogin: z.boolean(),
    limits: PlanLimits,
    /** Name of the exit that accounts of the plan get; null: theirs stays. */
    exit: z.string().regex(EXIT_NAME).nullable().default(null),
  })
  .meta({ id: 'Plan' });

const Plans = z.object({ plans: z.array(Plan).max(MAX_PLANS) }).meta({ id: 'Plans' });

export const planRoutes = settingRoutes({
  name: 'plans',
  schema: Plans,
  body: Plans,
  get: {
    operationId: 'getPlans',
    summary: 'The plans, in the order in which they are offered.',
    access: 'accounts:read',
    description: 'All of them.',
  },
  put: {
    operationId: 'setPlans',
    summary: 'Saves all plans; existing accounts of a changed or removed plan stay unchanged.',
    description: 'As saved.',
    bulkBody: true,
  },
  present: ({ plans }) => ({ body: { plans: plans.list() }, version: plans.list() }),
  async save({ body, by }, { accounts, plans }, otherVersion) {
    const unknown = body.plans.findIndex(
      ({ name, exit }) => exit !== plans.byName(name)?.exit && !accounts.hasExit(exit),
    );
    if (unknown >= 0) return invalid(`body.plans.${unknown}.exit`, 'exit');
    const names = body.plans.map(({ name }) => name);
    const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
    if (twice >= 0) return invalid(`body.plans.${twice}.name`, 'plan-twice');
    return plans.save(() => body.plans, by, otherVersion);
  },
});
