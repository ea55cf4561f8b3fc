// Deletes old and excess entries of the login log and the audit log.

import { DAY_MS } from '../core/clock.js';
import type { RetentionSetting } from '../core/settings/retention.js';
import type { Store } from './store.js';

/** Entries removed in one statement: other writers come in between two. */
const SLICE = 5_000;

/**
 * Removes slice after slice until nothing is left that should go: more may come in a minute than one slice holds.
 * Rejects when the database cannot be written.
 */
export async function trimLogs(uses: {
  readonly store: Pick<Store, 'logins' | 'audit'>;
  readonly retention: Pick<RetentionSetting, 'current'>;
  /** Logins kept at most, however young. */
  readonly maxLogins: number;
  readonly now: number;
  /** Ends it after the slice that is under way. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, maxLogins, now, signal } = uses;
  const { loginDays, auditDays } = uses.retention.current();
  let removed: number;
  do removed = await store.logins.trim(now - loginDays * DAY_MS, maxLogins, SLICE);
  while (removed === SLICE && !signal.aborted);
  if (signal.aborted) return;
  do removed = await store.audit.trim(now - auditDays * DAY_MS, SLICE);
  while (removed === SLICE && !signal.aborted);
}
