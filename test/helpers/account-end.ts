// Returns why the live sessions of an account end after a change, according to the code of a worker.
import type { AccountChanged } from '../../src/core/accounts/directory.js';

/** Returns `name reason` when the sessions end; an empty list when they continue. */
export function endOf({ before, after }: AccountChanged): string[] {
  if (!before || before === after) return [];
  if (!after) return [`${before.username} account-removed`];
  if (!after.isEnabled) return [`${after.username} account-disabled`];
  return after.passwordHash === before.passwordHash ? [] : [`${after.username} password-changed`];
}
