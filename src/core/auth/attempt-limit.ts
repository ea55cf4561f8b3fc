// Limits failed logins per source at the admin API and webhooks, in the memory of this process. A source that has reached the limit
// is refused by the other nodes too (penalties.ts).
import { sourceOf } from '../addresses/ip.js';
import type { SettingStore } from '../settings/setting.js';
import { type Clock, DAY_MS } from '../time/clock.js';
import { operatorSettingsPrefix } from './operator.js';
import type { PenaltiesOfKind } from './penalties.js';

export type AttemptLimit = ReturnType<typeof createAttemptLimit>;

/**
 * The count resets `windowMs` after the first failure. Keeps at most `maxSources` sources, and drops the least recently seen.
 */
export function createAttemptLimit(options: {
  readonly maxFailures: number;
  readonly windowMs: number;
  readonly maxSources: number;
  readonly now: Clock;
  /** Publishes penalties to the other nodes; undefined: this is the only node. */
  readonly penalties?: PenaltiesOfKind;
}) {
  const { maxFailures, now, penalties } = options;
  const windows = new Map<string, AttemptWindow>();

  /** Moves a source to the end of the map, as the most recently seen. */
  function put(source: string, window: AttemptWindow): void {
    windows.delete(source);
    windows.set(source, window);
    if (windows.size <= options.maxSources) return;
    const [oldest] = windows.keys();
    if (oldest !== undefined) windows.delete(oldest);
  }

  /** For how long the source is still refused, in ms; null: it is not refused. */
  function leftMs(source: string): number | null {
    const window = windows.get(source);
    return window && window.count >= maxFailures && window.endsAt > now() ? window.endsAt - now() : null;
  }

  penalties?.subscribe((source, ms) => {
    if ((leftMs(source) ?? 0) < ms) put(source, { count: maxFailures, endsAt: now() + ms });
  });

  return {
    /**
     * Counts an attempt of `address` (without a port) as a failure. Returns null when the attempt may be checked, or the number of
     * milliseconds that the source must wait. Call `succeeded` for a correct attempt.
     */
    attempt(address: string): number | null {
      const source = sourceOf(address);
      const at = now();
      const window = windows.get(source) ?? { count: 0, endsAt: 0 };
      put(source, window);
      if (!countAttempt(window, maxFailures, options.windowMs, at)) return window.endsAt - at;
      if (window.count >= maxFailures) penalties?.suspect(source, () => leftMs(source));
      return null;
    },

    /** Uncounts the current attempt, which was correct. Earlier attempts stay counted. */
    succeeded(address: string): void {
      const source = sourceOf(address);
      const window = windows.get(source);
      if (!window) return;
      forgiveAttempts(window);
      // Sources without failures are not kept.
      if (window.count === 0) windows.delete(source);
    },
  };
}

/** The state of one source. All zeros: no failures. */
interface AttemptWindow {
  /** Attempts that count as failures. */
  count: number;
  /** End of the window, in units of the caller's clock. */
  endsAt: number;
}

/**
 * Counts an attempt before it is checked, so that a burst cannot exceed the limit. A refused attempt is not checked and does not
 * count.
 * @param length of the window, in units of the caller's clock, as `now`
 * @returns whether the attempt may be checked
 */
export function countAttempt(window: AttemptWindow, max: number, length: number, now: number): boolean {
  if (window.count === 0 || window.endsAt <= now) {
    window.count = 0;
    window.endsAt = now + length;
  }
  if (window.count >= max) return false;
  window.count += 1;
  return true;
}

/** Uncounts correct attempts. */
export function forgiveAttempts(window: AttemptWindow, attempts = 1): void {
  window.count = Math.max(0, window.count - attempts);
}

export type KnownSources = ReturnType<typeof createKnownSources>;

const KEPT_MS = 30 * DAY_MS;
/** Most sources of one user; the oldest is forgotten first. */
const MAX_SOURCES = 10;

const keyOf = (operatorId: string | null): string =>
  `${operatorId === null ? 'admin' : operatorSettingsPrefix(operatorId)}.known-sources`;

/** They are in the database: all daemons know them, also after a restart. */
export function createKnownSources(settings: Pick<SettingStore, 'get' | 'set'>, now: Clock) {
  /** When each source was seen last, newest first. */
  async function read(operatorId: string | null): Promise<[source: string, at: number][]> {
    const stored = JSON.parse((await settings.get(keyOf(operatorId))) ?? '[]') as [string, number][];
    return stored.filter(([, at]) => at > now() - KEPT_MS);
  }
  return {
    /** Rejects when the database cannot be read. @param operatorId null: the administrator */
    async has(operatorId: string | null, address: string): Promise<boolean> {
      const source = sourceOf(address);
      return (await read(operatorId)).some(([known]) => known === source);
    },

    /** Rejects when it cannot be written. */
    async add(operatorId: string | null, address: string): Promise<void> {
      const source = sourceOf(address);
      const known = await read(operatorId);
      // Written once a day.
      if (known.some(([one, at]) => one === source && at > now() - DAY_MS)) return;
      const others = known.filter(([one]) => one !== source);
      const next = [[source, now()], ...others].slice(0, MAX_SOURCES);
      await settings.set(keyOf(operatorId), JSON.stringify(next));
    },
  };
}
