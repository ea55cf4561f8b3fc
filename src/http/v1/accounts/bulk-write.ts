// Writes the planned changes of a bulk action. Other requests and daemons may change the accounts between the plan and the write.
import { type Account, hasSameTerms } from '../../../core/accounts/account.js';
import { ChangedMeanwhile } from '../../../core/accounts/account-store.js';
import type { Actor } from '../../../core/audit/audit.js';
import type { BulkAction } from './bulk-action.js';
import { type PlanDeps, type Planned, plannedFor } from './bulk-plan.js';
import type { SkippedAccount } from './schemas.js';

/** Actions whose change depends on what the account has. */
const RELATIVE: ReadonlySet<BulkAction['type']> = new Set(['extend', 'plan', 'tag']);

/** How often changes of a slice are planned again because others have changed its accounts meanwhile. */
const MAX_TRIES = 20;

/**
 * Writes a slice of accounts in one transaction. Plans again when one has changed since it was planned. Returns for each id the change
 * as it was made, or why none was.
 */
export async function carryOut(
  deps: PlanDeps,
  slice: readonly Planned[],
  action: BulkAction,
  by: Actor,
): Promise<ReadonlyMap<string, Planned | SkippedAccount['reason']>> {
  const { accounts } = deps;
  const outcomes = new Map<string, Planned | SkippedAccount['reason']>();
  let planned = slice;
  for (let tries = 1; ; tries++) {
    try {
      const changed = new Set(await writePlanned(accounts, planned, action, by));
      for (const each of planned) {
        const { id } = each.view.account;
        outcomes.set(id, changed.has(id) ? each : 'not-found');
      }
      return outcomes;
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || tries === MAX_TRIES) throw error;
    }
    const ids = planned.map(({ view }) => view.account.id);
    await accounts.refresh(ids);
    planned = ids.flatMap((id) => {
      const view = accounts.get(id);
      const next = view ? plannedFor(deps, view, action, deps.now()) : 'not-found';
      if (typeof next !== 'string') return [next];
      outcomes.set(id, next);
      return [];
    });
  }
}

async function writePlanned(
  accounts: PlanDeps['accounts'],
  planned: readonly Planned[],
  action: BulkAction,
  by: Actor,
): Promise<readonly string[]> {
  const changed =
    action.type === 'delete'
      ? await accounts.removeMany(
          planned.map(({ view }) => view.account.id),
          by,
        )
      : await accounts.patchMany(
          planned.map(({ view: { account }, change }) => ({
            id: account.id,
            change,
            ...(RELATIVE.has(action.type)
              ? { isCurrent: (stored: Account) => hasSameTerms(account, stored) }
              : {}),
          })),
          by,
        );
  return changed.map(({ id }) => id);
}
