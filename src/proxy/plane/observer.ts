// What the data plane reports to the control plane, in order.
import type { SessionPermits } from '../../core/accounts/access/session-permits.js';
import type { Penalty } from '../../core/auth/penalties.js';
import type { SessionEvents } from '../../core/sessions/session.js';
import type { LoginsEvent } from '../messages.js';

export interface ProxyObserver {
  readonly sessions: SessionEvents;
  logins(event: LoginsEvent): void;
  /** Counts sessions over all nodes, of accounts that need it; null: there are no other nodes. */
  readonly permits: Pick<SessionPermits, 'acquire' | 'hold'> | null;
  /** Logins of a source are refused from now on. */
  penalty(penalty: Penalty): void;
  /** An imported hash was right: `salted` is to be stored in its place, unless it is no longer `before`. */
  rehashed(accountId: string, before: string, salted: string): void;
}
