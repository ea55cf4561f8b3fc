// Guessing passwords at the listener: how many wrong logins one source may try, in all and of one name.
// A name is never locked by itself, or anybody could lock a player out from anywhere.
import type { Clock } from '../clock.js';
import { sourceOf } from '../source.js';

export interface LoginGuardOptions {
  /** Wrong logins of one source within `windowMs`, whatever the names. */
  readonly maxFailuresPerSource: number;
  /** Wrong logins of one name from one source within `windowMs`. */
  readonly maxFailuresPerLogin: number;
  /** Counted from the first failure; then everything is forgiven. */
  readonly windowMs: number;
  /** Rows of either table; the one not used for longest goes first. */
  readonly maxRows: number;
  readonly now: Clock;
}

export interface LoginGuard {
  /**
   * Counts a login before it is checked, so that no burst gets past the limit. 'check': go on, and call `succeeded` if
   * it was right; else it is refused whatever its password: 'block' for the first one of this source, or of this name
   * from it, and 'blocked' for the ones that follow.
   */
  attempt(address: string, username: string): 'check' | 'block' | 'blocked';
  succeeded(address: string, username: string): void;
}

interface Window {
  readonly endsAt: number;
  failures: number;
  isBlocked: boolean;
}

/**
 * A right login forgives one wrong login of its source besides its own attempt: enough for the players behind one
 * address, too little for someone who has an account and guesses at those of others.
 */
const FORGIVEN_BY_SUCCESS = 2;

export function createLoginGuard(options: LoginGuardOptions): LoginGuard {
  const sources = new Map<string, Window>();
  const logins = new Map<string, Window>();

  function count(table: Map<string, Window>, key: string, now: number): Window {
    const known = table.get(key);
    const window =
      known && known.endsAt > now ? known : { endsAt: now + options.windowMs, failures: 0, isBlocked: false };
    table.delete(key);
    table.set(key, window);
    window.failures += 1;
    if (table.size > options.maxRows) {
      const [oldest] = table.keys();
      if (oldest !== undefined) table.delete(oldest);
    }
    return window;
  }

  return {
    attempt(address, username) {
      const now = options.now();
      const source = sourceOf(address);
      const ofSource = count(sources, source, now);
      const ofLogin = count(logins, `${source} ${username}`, now);
      const over = [
        ...(ofSource.failures > options.maxFailuresPerSource ? [ofSource] : []),
        ...(ofLogin.failures > options.maxFailuresPerLogin ? [ofLogin] : []),
      ];
      if (over.length === 0) return 'check';
      // What was not checked was no guess: someone with an old password in his client blocks only himself.
      ofSource.failures -= 1;
      ofLogin.failures -= 1;
      const isFirst = over.some((window) => !window.isBlocked);
      for (const window of over) window.isBlocked = true;
      return isFirst ? 'block' : 'blocked';
    },

    succeeded(address, username) {
      const source = sourceOf(address);
      logins.delete(`${source} ${username}`);
      const window = sources.get(source);
      if (!window) return;
      window.failures -= FORGIVEN_BY_SUCCESS;
      if (window.failures <= 0) sources.delete(source);
    },
  };
}
