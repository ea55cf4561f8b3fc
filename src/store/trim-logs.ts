// Deletes old and excess entries of the login log and the audit log, and old records of sessions.
import { DAY_MS } from '../core/clock.js';
import type { RetentionSetting } from '../core/settings/retention.js';
import type { Store } from './store.js';

/** Entries deleted by one statement. Other writers can write between two statements. */
const SLICE = 5_000;

/**
 * Deletes slice after slice until no old entry is left, because more than one slice may be added per minute.
 * Rejects when the database cannot be written.
 */
export async function trimLogs(deps: {
  readonly store: Pick<Store, 'logins' | 'audit' | 'sessionRecords'>;
  readonly retention: Pick<RetentionSetting, 'current'>;
  /** Most login entries that are kept, regardless of their age. */
  readonly maxLogins: number;
  readonly now: number;
  /** Ends the deletion after the current slice. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, maxLogins, now, signal } = deps;
  const { loginDays, auditDays, sessionDays } = deps.retention.current();
  for (const trim of [
    () => store.logins.trim(now - loginDays * DAY_MS, maxLogins, SLICE),
    () => store.audit.trim(now - auditDays * DAY_MS, SLICE),
    () => store.sessionRecords.trim(now - sessionDays * DAY_MS, SLICE),
  ]) {
    while ((await trim()) === SLICE && !signal.aborted);
    if (signal.aborted) return;
  }
}
