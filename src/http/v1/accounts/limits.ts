// /api/v1/accounts/{id}/limits and usage: the limits and the usage of an account.
import { refused } from '../../../core/accounts/accounts.js';
import type { AccountLimits as Limits } from '../../../core/accounts/usage/limits.js';
import { withoutUndefined } from '../../../core/maps.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { type Answered, etagOf, matches, routesOf } from '../../api/route.js';
import { component } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import type { Services } from '../../services.js';
import { AccountLimits, AccountLimitsChange, AccountUsage } from './field-schemas.js';
import { presentUsage } from './schemas.js';
import { NO_ACCOUNT, rightsProblem } from './shared.js';

const { route } = routesOf('Accounts');
const path = '/api/v1/accounts/{id}/limits';
const LimitsAndUsage = component('LimitsAndUsage', { limits: AccountLimits, usage: AccountUsage });

export const limitRoutes = [
  route(`GET ${path}`, 'getAccountLimits', 'accounts:read', {
    summary: 'Limits and usage of an account.',
    etag: true,
    success: [200, 'Limits and usage.', LimitsAndUsage],
    handle: async ({ params }, deps) => shown(deps, params.id),
  }),
  route(`PATCH ${path}`, 'changeAccountLimits', 'accounts:write', {
    summary: 'Changes the given limits; they apply to live sessions at once.',
    etag: true,
    request: { body: AccountLimitsChange },
    success: [200, 'Limits and usage as they are now.', LimitsAndUsage],
    async handle({ params: { id }, body, ifMatch, caller }, deps) {
      const { accounts } = deps;
      const present = accounts.get(id)?.account;
      if (!present) return NO_ACCOUNT;
      const wrong = rightsProblem(caller, { limits: body }, present);
      if (wrong) return wrong;
      const limits = withoutUndefined<Partial<Limits>>(body);
      const changed = await accounts.patch(
        id,
        (stored) => (matches(ifMatch, etagOf(stored.limits)) ? { limits } : refused('changed-meanwhile')),
        actorOf(caller),
      );
      if (changed.ok) return shown(deps, id);
      if (changed.reason === 'changed-meanwhile') return CHANGED_MEANWHILE;
      return changed.reason === 'not-found' ? NO_ACCOUNT : invalid('body.egressClass', 'egress-class');
    },
  }),
  route('POST /api/v1/accounts/{id}/usage/reset', 'resetAccountUsage', 'accounts:write', {
    summary: 'Resets the usage of the quota period to zero; the daily history stays.',
    success: [200, 'Limits and usage as they are now.', LimitsAndUsage],
    async handle({ params: { id }, caller }, deps) {
      await deps.accounts.resetUsage([id], actorOf(caller));
      return shown(deps, id);
    },
  }),
];

const CHANGED_MEANWHILE: ProblemAnswer = failure('changed-meanwhile', 'limits-changed');

function shown({ accounts, usage }: Services, id: string): Answered | ProblemAnswer {
  const account = accounts.get(id)?.account;
  if (!account) return NO_ACCOUNT;
  const { limits } = account;
  const body = { limits, usage: presentUsage(usage.view(account)) };
  return { body, headers: { ETag: etagOf(limits) } };
}
