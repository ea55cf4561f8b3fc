// Limits guessing of admin credentials. Console sign-in, one-time codes, the current password, Basic and tokens share one count per
// source. The count is checked before any credentials are compared.
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import type { Penalties, PenaltiesOfKind } from '../../core/auth/penalties.js';
import type { Clock } from '../../core/clock.js';
import { sourceOf } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import { nodeTimers, type Timers } from '../../core/timers.js';

export interface AdminAttempts {
  /** Whether the client's source has the maximum number of delayed responses. */
  isFull(client: string): boolean;
  /**
   * Counts an attempt before its credentials are checked. Returns null when they may be checked: the caller then calls `succeeded`
   * for correct ones. Otherwise returns the seconds to wait, and the caller refuses the attempt whatever its credentials.
   */
  begin(client: string): number | null;
  /**
   * Uncounts only this attempt. A sign-in without its second factor, or another client's valid password, must not clear earlier
   * failures.
   */
  succeeded(client: string): void;
  /** Resolves after 500 to 1500 ms with 'elapsed', or as soon as `close` is called with 'closed'. */
  delay(client: string): Promise<'elapsed' | 'closed'>;
  /** Ends every wait and clears every timer. */
  close(): void;
}

export interface AttemptOptions {
  readonly maxFailuresPerSource: number;
  readonly failureWindowMs: number;
  /** Number of remembered sources. The source not seen for the longest time is forgotten first. */
  readonly maxSources: number;
  /** Limit of wrong one-time codes per user, from all sources. */
  readonly maxCodeFailures: number;
  readonly codeFailureWindowMs: number;
}

/** `now` is monotonic; `random` is in [0, 1). */
export function createAdminAttempts(
  options: Omit<AttemptOptions, 'maxCodeFailures' | 'codeFailureWindowMs'> & {
    readonly maxDelayedPerSource: number;
    readonly random: () => number;
    readonly now: Clock;
    readonly log: Pick<Log, 'warn'>;
    /** Log message when a source is refused. */
    readonly refused?: string;
    /** What is counted, as the field of the log message. */
    readonly counted?: 'client' | 'username';
    readonly penalties?: PenaltiesOfKind;
  },
): AdminAttempts {
  const {
    maxSources,
    now,
    log,
    refused = 'admin logins refused: too many failures',
    counted = 'client',
  } = options;
  const limit = createAttemptLimit({
    maxFailures: options.maxFailuresPerSource,
    windowMs: options.failureWindowMs,
    maxSources,
    now,
    ...(options.penalties ? { penalties: options.penalties } : {}),
  });
  const delay = createLoginDelay({
    maxWaitingPerSource: options.maxDelayedPerSource,
    random: options.random,
    timers: nodeTimers,
  });
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

/** The counts of the admin API: of logins, of one-time codes and of player links. `now` is monotonic; `random` is in [0, 1). */
export function createAttemptsOfAll({
  penalties,
  ...options
}: AttemptOptions & {
  readonly penalties: Pick<Penalties, 'of'>;
  /** Most delayed answers to refused logins of one source at once. */
  readonly maxDelayedPerSource: number;
  readonly random: () => number;
  readonly now: Clock;
  readonly log: Pick<Log, 'warn'>;
}) {
  return {
    attempts: createAdminAttempts({ ...options, penalties: penalties.of('admin') }),
    codeAttempts: createAdminAttempts({
      ...options,
      maxFailuresPerSource: options.maxCodeFailures,
      failureWindowMs: options.codeFailureWindowMs,
      refused: 'one-time codes refused: too many wrong ones',
      counted: 'username',
      penalties: penalties.of('admin-code'),
    }),
    playerAttempts: createAdminAttempts({
      ...options,
      refused: 'player links refused: too many failures',
      penalties: penalties.of('player-link'),
    }),
  };
}

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
export function createLoginDelay({
  maxWaitingPerSource,
  random,
  timers,
}: {
  maxWaitingPerSource: number;
  random: () => number;
  timers: Timers;
}) {
  const waitingBySource = new Map<string, number>();
  const endings = new Set<() => void>();

  function add(source: string): void {
    waitingBySource.set(source, (waitingBySource.get(source) ?? 0) + 1);
  }

  function remove(source: string): void {
    const remaining = (waitingBySource.get(source) ?? 1) - 1;
    if (remaining === 0) waitingBySource.delete(source);
    else waitingBySource.set(source, remaining);
  }

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
          remove(source);
          resolve(how);
        };
        const endEarly = () => end('closed');
        // A timer may fire a millisecond early. The added millisecond keeps the lower bound.
        const delayMs = MIN_MS + 1 + Math.floor(random() * (MAX_MS - MIN_MS));
        const timer = timers.after(delayMs, () => end('elapsed'));
        endings.add(endEarly);
        add(source);
      }),

    /** Ends every wait and clears every timer. */
    close(): void {
      for (const endEarly of [...endings]) endEarly();
    },
  };
}
