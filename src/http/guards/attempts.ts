// Limits guessing of admin credentials. Console sign-in, one-time codes, the current password, Basic and tokens share one
// count per source, which is checked before anything is compared.
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { sourceOf } from '../../core/source.js';
import { createLoginDelay } from './login-delay.js';

export interface AdminAttempts {
  /** Whether the maximum of delayed responses to the client's source is reached. */
  isFull(client: string): boolean;
  /**
   * Counts an attempt before its check. Returns null when it may be checked; then `succeeded` is called when it was right.
   * Otherwise it is refused whatever it brought, and the seconds to wait are returned.
   */
  begin(client: string): number | null;
  /** Uncounts this attempt only: a half sign-in, or another client's valid password, must not clear earlier failures. */
  succeeded(client: string): void;
  /** Resolves after 500 to 1500 ms with 'elapsed', or as soon as `close` is called with 'closed'. */
  delay(client: string): Promise<'elapsed' | 'closed'>;
  /** Ends every wait, and every timer. */
  close(): void;
}

export interface AttemptOptions {
  readonly maxFailuresPerSource: number;
  readonly failureWindowMs: number;
  /** Sources remembered; the one not seen for longest is forgotten first. */
  readonly maxSources: number;
}

/** `now` is monotonic; `random` is in [0, 1). */
export function createAdminAttempts(
  options: AttemptOptions & {
    readonly maxDelayedPerSource: number;
    readonly random: () => number;
    readonly now: Clock;
    readonly log: Pick<Log, 'warn'>;
  },
): AdminAttempts {
  const { maxSources, now, log } = options;
  const limit = createAttemptLimit({
    maxFailures: options.maxFailuresPerSource,
    windowMs: options.failureWindowMs,
    maxSources,
    now,
  });
  const delay = createLoginDelay({
    maxWaitingPerSource: options.maxDelayedPerSource,
    random: options.random,
  });
  // When the window of a source ends: one log line per source and window.
  const logged = new Map<string, number>();

  function logBlock(client: string, waitMs: number): void {
    const source = sourceOf(client);
    const at = now();
    if ((logged.get(source) ?? 0) > at) return;
    logged.delete(source);
    logged.set(source, at + waitMs);
    const [oldest] = logged.keys();
    if (oldest !== undefined && logged.size > maxSources) logged.delete(oldest);
    log.warn({ client, seconds: Math.ceil(waitMs / 1000) }, 'admin logins refused: too many failures');
  }

  return {
    isFull: delay.isFull,
    begin(client) {
      const waitMs = limit.attempt(client);
      if (waitMs === null) return null;
      logBlock(client, waitMs);
      return Math.max(1, Math.ceil(waitMs / 1000));
    },
    succeeded: limit.succeeded,
    delay: delay.wait,
    close: delay.close,
  };
}
