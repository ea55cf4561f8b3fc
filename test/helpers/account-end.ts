// Returns why the live sessions of an account end after a change, as a worker decides it.
import type { AccountChanged } from '../../src/core/accounts/directory.js';

/** `name reason`; nothing when the sessions go on. */
export function endOf({ before, after }: AccountChanged): string[] {
  if (!before || before === after) return [];
  if (!after) return [`${before.username} account-removed`];
  if (!after.isEnabled) return [`${after.username} account-disabled`];
  return after.passwordHash === before.passwordHash ? [] : [`${after.username} password-changed`];
}
