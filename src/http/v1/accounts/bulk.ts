// /api/v1/accounts/bulk: changes many selected accounts at once, with a preview.
import { z } from 'zod';
import type { Account } from '../../../core/accounts/account.js';
import type { AccountView } from '../../../core/accounts/account-query.js';
import { costOfAll } from '../../../core/accounts/plans/budget.js';
import { failure, invalid } from '../../api/problem.js';
import { type Answered, routesOf } from '../../api/route.js';
import { Count, component, Guid } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import type { Services } from '../../services.js';
import { actionProblem, asStored, BulkAction } from './bulk-action.js';
import { type Affected, affectedFor, changeOfAffected } from './bulk-effect.js';
import { credentials } from './credentials.js';
import { AccountFilterBody, Credentials, SkippedAccount } from './schemas.js';
import { matcherFor } from './shared.js';
import { BudgetPreview, budgetPreview, carryOut, inAuditedSlices, type Outcomes } from './slices.js';

const { route } = routesOf('Accounts');
const MAX_SHOWN_CHANGES = 100;
const MAX_SHOWN_SKIPPED = 1_000;

const BulkRequest = component('BulkRequest', {
  /** Exactly one of `ids` and `filter`. An empty filter means every account. */
  ids: z.array(Guid).min(1).max(10_000).optional(),
  filter: AccountFilterBody.optional(),
  action: BulkAction,
  /** true: writes nothing, and the answer is the preview. */
  dryRun: z.boolean(),
  /** The count of the preview. If the number differs now, the answer is 409 and nothing is written. */
  expectedCount: Count.optional(),
});
type BulkRequest = z.infer<typeof BulkRequest>;

const BulkResult = component('BulkResult', {
  dryRun: z.boolean(),
  /** Number of accounts that were changed, or would be. */
  count: Count,
  /**
   * The first 100 of them, starting with those that `stayingExpired` and `shortened` count. `before` and `after` contain what the
   * action changes: with `set-limits` every limit, with `set-access` addresses and schedule, with `plan` expiry and limits, with
   * `reset-password`, `reset-usage` and `end-sessions` nothing. A deletion's `after` is null.
   */
  changes: z.array(
    z.object({
      id: Guid,
      username: z.string(),
      before: z.record(z.string(), z.unknown()),
      after: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
  skippedCount: Count,
  /** The first 1,000 skipped accounts. */
  skipped: z.array(SkippedAccount),
  sessionsEnded: Count,
  /** Number of heartbeat entries that are removed together with deleted accounts. */
  heartbeatsRemoved: Count,
  /** Number of accounts that are expired even after their expiry changed. */
  stayingExpired: Count,
  /** Number of accounts that expire earlier than before, and of accounts that never expired and now expire. */
  shortened: Count,
  /** With `reset-password`: the new random passwords, only in this answer. Empty with `dryRun`. */
  credentials: z.array(Credentials),
  /** With `dryRun`: what the action needs of the caller's budget; null: the caller has none. */
  budget: BudgetPreview.nullable(),
});

export const accountBulkRoutes = [
  route('POST /api/v1/accounts/bulk', 'changeAccounts', 'accounts:write', {
    summary:
      'Changes many accounts at once, or previews this: enable, disable, delete, extend, expiry, plan, limits, exit, tags, contacts, access, owner, suspension, usage, sessions, new passwords.',
    bulkBody: true,
    request: { body: BulkRequest },
    success: [200, 'What was changed and what was skipped.', BulkResult],
    problems: [409],
    async handle({ body, caller, kept, ctx }, deps) {
      const { ids, filter, action, dryRun, expectedCount } = body;
      if ((ids === undefined) === (filter === undefined)) {
        return invalid('body', 'one-of', { allowed: 'ids, filter' });
      }
      const refused = actionProblem(deps, action, caller);
      if (refused) return refused;
      const stored = asStored(deps, action);
      const { affected, skipped } = effectsOn(deps, body, stored);
      if (expectedCount !== undefined && expectedCount !== affected.length) {
        const counts = { expected: expectedCount, now: affected.length };
        return failure('conflict', 'preview-outdated', counts);
      }
      if (dryRun) {
        const costs = () =>
          costOfAll(affected.map(changeOfAffected), deps.usage.readNow, {
            now: deps.now(),
            calendar: deps.calendar,
          });
        return result(body, affected, skipped, [], await budgetPreview(deps, caller, costs));
      }
      const outcomes: Outcomes = new Map();
      const answer = () => {
        const written = sorted(affected, outcomes);
        const credentials = written.changed.flatMap((each) => newCredentials(deps, ctx.hostname, each));
        return result(body, written.changed, [...skipped, ...written.skipped], credentials);
      };
      kept.answer = () => (outcomes.size < affected.length ? null : answer());
      const by = { by: actorOf(caller), type: stored.type };
      const undone = await inAuditedSlices(affected, deps, by, (slice, actor) =>
        carryOut(deps, slice, stored, actor, outcomes),
      );
      for (const { view } of undone) outcomes.set(view.account.id, 'failed');
      return answer();
    },
  }),
];

const skip = ({ id, username }: Account, reason: SkippedAccount['reason']) => ({ id, username, reason });

/** The effect on each account that the request selects. */
function effectsOn(deps: Services, { ids, filter }: BulkRequest, action: BulkAction) {
  const { accounts, sessions, now } = deps;
  const at = now();
  sessions.count();
  const skipped: SkippedAccount[] = [];
  const affected: Affected[] = [];
  const add = (view: AccountView): void => {
    const found = affectedFor(deps, view, action, at);
    if (typeof found === 'string') skipped.push(skip(view.account, found));
    else affected.push(found);
  };
  if (ids) {
    for (const id of new Set(ids)) {
      const view = accounts.get(id);
      if (view) add(view);
      else skipped.push({ id, username: '', reason: 'not-found' });
    }
  } else
    accounts
      .list()
      .filter(matcherFor(deps, filter ?? {}, at))
      .forEach(add);
  return { affected, skipped };
}

/** The changes that were made, and the accounts that are gone or could not be written. */
function sorted(affected: readonly Affected[], outcomes: Outcomes) {
  const all = affected.map(
    ({ view }) => [view.account, outcomes.get(view.account.id) ?? 'not-found'] as const,
  );
  return {
    changed: all.flatMap(([, outcome]) => (typeof outcome === 'string' ? [] : [outcome])),
    skipped: all.flatMap(([account, outcome]) =>
      typeof outcome === 'string' ? [skip(account, outcome)] : [],
    ),
  };
}

/** Returns the new password of an account; none when the action sets none. */
function newCredentials(
  deps: Services,
  hostname: string,
  { view, change: { password } }: Affected,
): readonly Credentials[] {
  const { id, username } = view.account;
  return password === undefined ? [] : [credentials(deps, hostname, { id, username, password })];
}

function result(
  { action, dryRun }: BulkRequest,
  affected: readonly Affected[],
  skipped: readonly SkippedAccount[],
  credentials: readonly Credentials[] = [],
  budget: z.infer<typeof BudgetPreview> | null = null,
): Answered {
  const noticed = affected.filter(isNoticed);
  const shown = [...noticed, ...affected.filter((each) => !isNoticed(each))];
  const sum = (count: (each: Affected) => number): number =>
    affected.reduce((total, each) => total + count(each), 0);
  const body: z.infer<typeof BulkResult> = {
    dryRun,
    count: affected.length,
    changes: shown.slice(0, MAX_SHOWN_CHANGES).map(({ view, before, after }) => ({
      id: view.account.id,
      username: view.account.username,
      before,
      after,
    })),
    skippedCount: skipped.length,
    skipped: skipped.slice(0, MAX_SHOWN_SKIPPED),
    sessionsEnded: sum(({ ended }) => ended),
    heartbeatsRemoved: action.type === 'delete' ? sum(({ view }) => view.dataCount) : 0,
    stayingExpired: noticed.filter((each) => each.staysExpired).length,
    shortened: noticed.filter((each) => each.isShortened).length,
    credentials: [...credentials],
    budget,
  };
  return { body };
}

const isNoticed = ({ staysExpired, isShortened }: Affected): boolean => !!staysExpired || !!isShortened;
