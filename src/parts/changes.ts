// What other processes (the command line) change in the database reaches the memory of the daemon.
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { Log } from '../core/log.js';
import { followChanges } from '../store/follow-changes.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';

/** How often the database is asked, in ms: the command line promises one second. */
const INTERVAL_MS = 250;

export function createChangesPart(uses: {
  readonly core: Core;
  readonly limits: AccountLimitsService;
  readonly log: Log;
}): Part {
  const { core, limits, log } = uses;
  const follower = followChanges({
    feed: core.store.changes,
    intervalMs: INTERVAL_MS,
    async applyAccounts(ids) {
      await core.accounts.refresh(ids);
      await limits.refresh(ids.filter((id) => core.accounts.get(id)));
    },
    applySetting: core.settings.reload,
    onError: (error) => log.error({ err: error }, 'a change by another process could not be taken in'),
  });
  return { name: 'changes', ...follower };
}
