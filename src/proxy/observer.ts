// What the data plane reports to the control plane, in order.
import type { LoginOutcome } from '../core/accounts/login-log.js';
import type { SessionPermits } from '../core/accounts/session-permits.js';
import type { Penalty } from '../core/auth/penalties.js';
import type { SessionEvents } from '../core/sessions/observer.js';

export interface ProxyObserver {
  readonly sessions: SessionEvents;
  /** `count` logins of one kind, the last of them `at` (ms since the epoch). */
  logins(
    outcome: LoginOutcome,
    username: string,
    accountId: string | null,
    client: string,
    count: number,
    at: number,
  ): void;
  /** Counts sessions over all nodes, of accounts that need it; null: there are no other nodes. */
  readonly permits: Pick<SessionPermits, 'acquire' | 'hold'> | null;
  /** Logins of a source are refused from now on. */
  penalty(penalty: Penalty): void;
  /** An imported hash was right: `salted` is to be stored in its place, unless it is no longer `before`. */
  rehashed(accountId: string, before: string, salted: string): void;
}
