// What the data plane reports to the control plane, in order.
import type { SessionEvents } from '../core/sessions/observer.js';
import type { LoginOutcome } from './messages.js';

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
  /** An imported hash was right: `salted` is to be stored in its place, unless it is no longer `before`. */
  rehashed(accountId: string, before: string, salted: string): void;
}
