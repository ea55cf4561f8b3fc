// Limits guessing of admin credentials. Console sign-in, one-time codes, the current password, Basic and tokens share one count per
// source. The count is checked before any credentials are compared.
import type { Config } from '../../config.js';
import { sourceOf } from '../../core/addresses/ip.js';
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import type { Penalties, PenaltiesOfKind } from '../../core/auth/penalties.js';
import type { Log } from '../../core/log.js';
import { addToCount } from '../../core/maps.js';
import type { Clock } from '../../core/time/clock.js';
import { nodeTimers, type Timers } from '../../core/time/timers.js';

export type AdminAttempts = ReturnType<typeof createAdminAttempts>;

type Attempts = Config['admin']['attempts'];

/** `maxSources`: number of remembered sources. The source not seen for the longest time is forgotten first. */
interface AttemptOptions extends Pick<Attempts, 'maxFailuresPerSource' | 'failureWindowMs' | 'maxSources'> {
  /** Most delayed answers to refused logins of one source at once. */
  readonly maxDelayedPerSource: number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Monotonic. */
  readonly now: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** Counts the attempts of one kind. @param refused log message when a source is refused, with what is counted as its field */
function createAdminAttempts(
  options: AttemptOptions,
  penalties: PenaltiesOfKind,
  refused: string,
  counted: 'client' | 'username' = 'client',
) {
  const { maxSources, now, log } = options;
  const limit = createAttemptLimit({
    maxFailures: options.maxFailuresPerSource,
    windowMs: options.failureWindowMs,
    maxSources,
    now,
    penalties,
  });
  const delay = createLoginDelay(options.maxDelayedPerSource, options.random, nodeTimers);
  // End of each source's window. The daemon logs one line per source and window.
  const logged = new Map<string, number>();

  function logBlock(client: string, waitMs: number): void {
    const source = sourceOf(client);
    const at = now();
    if ((logged.get(source) ?? 0) > at) return;
    logged.delete(source);
    logged.set(source, at + waitMs);
    const [oldest] = logged.keys();
    if (oldest !== undefined && logged.size > maxSources) logged.delete(oldest);
    log.warn({ [counted]: client, seconds: Math.ceil(waitMs / 1000) }, refused);
  }

  return {
    /** Whether the client's source has the maximum number of delayed responses. */
    isFull: delay.isFull,
    /**
     * Counts an attempt before its credentials are checked. Returns null when they may be checked: the caller then calls `succeeded`
     * for correct ones. Otherwise returns the seconds to wait, and the caller refuses the attempt whatever its credentials.
     */
    begin(client: string): number | null {
      const waitMs = limit.attempt(client);
      if (waitMs === null) return null;
      logBlock(client, waitMs);
      return Math.max(1, Math.ceil(waitMs / 1000));
    },
    /**
     * Uncounts only this attempt. A sign-in without its second factor, or another client's valid password, must not clear earlier
     * failures.
     */
    succeeded: limit.succeeded,
    delay: delay.wait,
    close: delay.close,
  };
}

/** The counts of the admin API: of logins, of one-time codes (per user, from all sources) and of player links. */
export const createAttemptsOfAll = (
  options: AttemptOptions & Pick<Attempts, 'maxCodeFailures' | 'codeFailureWindowMs'>,
  penalties: Pick<Penalties, 'of'>,
) => ({
  attempts: createAdminAttempts(options, penalties.of('admin'), 'admin logins refused: too many failures'),
  codeAttempts: createAdminAttempts(
    {
      ...options,
      maxFailuresPerSource: options.maxCodeFailures,
      failureWindowMs: options.codeFailureWindowMs,
    },
    penalties.of('admin-code'),
    'one-time codes refused: too many wrong ones',
    'username',
  ),
  playerAttempts: createAdminAttempts(
    options,
    penalties.of('player-link'),
    'player links refused: too many failures',
  ),
});

/** Settles like `check`, and uncounts the attempt when its credentials could not be checked. */
export const uncountUnchecked = <Checked>(
  attempts: Pick<AdminAttempts, 'succeeded'>,
  client: string,
  check: Promise<Checked>,
): Promise<Checked> =>
  check.catch((error: unknown) => {
    attempts.succeeded(client);
    throw error;
  });

const MIN_MS = 500;
const MAX_MS = 1500;

/** `random` returns a number in [0, 1), as Math.random does. */
export function createLoginDelay(maxWaitingPerSource: number, random: () => number, timers: Timers) {
  const waitingBySource = new Map<string, number>();
  const endings = new Set<() => void>();

  return {
    /** Whether `source` (a client address) has the maximum number of delayed answers. */
    isFull: (address: string): boolean =>
      waitingBySource.size > 0 && (waitingBySource.get(sourceOf(address)) ?? 0) >= maxWaitingPerSource,

    // The delay counts for its whole duration, even after the client disconnected: hanging up does not allow faster guessing.
    /** Resolves after 500 to 1500 ms with 'elapsed', or as soon as `close` is called with 'closed'. */
    wait: (address: string): Promise<'elapsed' | 'closed'> =>
      new Promise((resolve) => {
        const source = sourceOf(address);
        const end = (how: 'elapsed' | 'closed') => {
          timer.clear();
          endings.delete(endEarly);
          addToCount(waitingBySource, source, -1);
          resolve(how);
        };
        const endEarly = () => end('closed');
        // A timer may fire a millisecond early. The added millisecond keeps the lower bound.
        const delayMs = MIN_MS + 1 + Math.floor(random() * (MAX_MS - MIN_MS));
        const timer = timers.after(delayMs, () => end('elapsed'));
        endings.add(endEarly);
        addToCount(waitingBySource, source, 1);
      }),

    /** Ends every wait and clears every timer. */
    close(): void {
      for (const endEarly of [...endings]) endEarly();
    },
  };
}
