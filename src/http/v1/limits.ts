// /api/v1: what an account may use, and what it has used.
import type { AccountLimitsService, LimitsView } from '../../core/accounts/account-limits.js';
import type { Accounts } from '../../core/accounts/accounts.js';
import type { AccountLimits } from '../../core/accounts/limits.js';
import { actorOf } from '../caller.js';
import type { limitRoutes } from './contract/limits.js';
import { etagOf, matches } from './etag.js';
import { type Answered, type Handlers, type ProblemAnswer, refuseCaller } from './serve.js';
import { isoOrNull } from './times.js';

const NO_ACCOUNT: ProblemAnswer = { problem: 'not-found', detail: 'there is no such account' };

export function limitHandlers({
  accounts,
  limits,
}: {
  accounts: Pick<Accounts, 'get'>;
  limits: AccountLimitsService;
}): Handlers<(typeof limitRoutes)[number]> {
  const shown = (id: string): Answered => {
    const view = limits.view(id);
    return { status: 200, body: present(view), headers: { ETag: etagOf(view.limits) } };
  };
  return {
    getAccountLimits: async ({ params }) => {
      const id = params.id.toLowerCase();
      return accounts.get(id) ? shown(id) : NO_ACCOUNT;
    },

    async changeAccountLimits({ params, body, ifMatch, caller }) {
      const id = params.id.toLowerCase();
      if (!accounts.get(id)) return NO_ACCOUNT;
      const present = limits.view(id).limits;
      if (!matches(ifMatch, etagOf(present))) {
        return { problem: 'changed-meanwhile', detail: 'the limits are no longer those of this ETag' };
      }
      if (body.egressClass !== undefined && body.egressClass !== present.egressClass) {
        const refused = refuseCaller(caller, 'egress:write');
        if (refused) return refused;
      }
      const changed = await limits.change(id, given(body), actorOf(caller));
      if (changed.ok) return shown(id);
      if (changed.reason === 'not-found') return NO_ACCOUNT;
      const message = 'the configuration has no such class (egress.classes)';
      return { problem: 'validation', errors: [{ path: 'body.egressClass', message }] };
    },

    async resetAccountUsage({ params, caller }) {
      const id = params.id.toLowerCase();
      return (await limits.reset(id, actorOf(caller))) ? shown(id) : NO_ACCOUNT;
    },
  };
}

/** The fields that were sent; null among them is "no limit". */
function given(body: { [K in keyof AccountLimits]?: AccountLimits[K] | undefined }): Partial<AccountLimits> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

function present({ limits, usage }: LimitsView) {
  const { periodStartedAt, periodEndsAt, ...counts } = usage;
  return {
    limits,
    usage: {
      ...counts,
      periodStartedAt: isoOrNull(periodStartedAt),
      periodEndsAt: isoOrNull(periodEndsAt),
    },
  };
}
