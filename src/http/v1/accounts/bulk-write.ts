// Writes a bulk action. Other requests and daemons may have changed the accounts since the preview: the change of each is planned again
// on the stored account, while it is locked.
import type { Account } from '../../../core/accounts/account.js';
import type { AccountChange } from '../../../core/accounts/account-input.js';
import type { Actor } from '../../../core/audit/audit.js';
import type { Services } from '../../services.js';
import type { BulkAction } from './bulk-action.js';
import { type Planned, plannedFor } from './bulk-plan.js';
import type { SkippedAccount } from './schemas.js';

/** Writes a slice of accounts in one transaction. Returns for each id the change as it was made, or why none was. */
export async function carryOut(
  deps: Services,
  slice: readonly Planned[],
  action: BulkAction,
  by: Actor,
): Promise<ReadonlyMap<string, Planned | SkippedAccount['reason']>> {
  const { accounts, sessions, now } = deps;
  const outcomes = new Map<string, Planned | SkippedAccount['reason']>(
    slice.map((planned) => [planned.view.account.id, planned]),
  );
  // A plan depends on the present usage.
  sessions.count();
  const changes = slice.map(({ view }) => ({
    id: view.account.id,
    changeOf(account: Account): AccountChange | null {
      const planned = plannedFor(deps, { ...view, account }, action, now());
      outcomes.set(account.id, planned);
      return typeof planned === 'string' ? null : planned.change;
    },
  }));
  const written = await (action.type === 'delete'
    ? accounts.removeMany([...outcomes.keys()], by)
    : accounts.patchMany(changes, by));
  const ids = new Set(written.map(({ id }) => id));
  for (const [id, outcome] of outcomes) {
    if (typeof outcome !== 'string' && !ids.has(id)) outcomes.set(id, 'not-found');
  }
  return outcomes;
}
