// How much one account may open at a time: connections, destinations, failed connects. Against scans, spam and torrents.
import { MINUTE_MS, SECOND_MS } from '../../time/clock.js';
import { type AccountLimits, EGRESS_LIMITS } from './limits.js';

/** The limits, each a number for one account on one node (0: none), and how login history and notices name what they refuse. */
export const REFUSED_BY = {
  connectionsPerSecond: 'too-many-connections',
  connectionsPerMinute: 'too-many-connections',
  /** Distinct ones, of TCP and UDP together. */
  destinationsPerMinute: 'too-many-destinations',
  /** Datagrams to destinations that the account has not used within the minute. */
  udpDestinationsPerSecond: 'too-many-destinations',
  /** Destinations that could not be reached: then the account gets no new destination. */
  failedConnectionsPerMinute: 'too-many-failed-connections',
} as const;
export type GuardLimit = keyof typeof REFUSED_BY;
/** What else is reported of an account: limits that others count, and a protocol that its egress rules deny. */
export const REPORTED_AS = {
  ...REFUSED_BY,
  lookupsPerMinute: 'too-many-lookups',
  maxConnections: 'too-many-open-connections',
  bittorrent: 'bittorrent',
} as const;
/** Whether the guard gives this reason of a suspension. An operator gives other words. */
export const isByGuard = (reason: string | null): boolean =>
  (Object.values(REPORTED_AS) as readonly (string | null)[]).includes(reason);
export type GuardReason = keyof typeof REPORTED_AS;
export type GuardLimits = Readonly<Record<GuardLimit, number>>;
/** With the limits that only an egress class and accounts have; undefined: as `dns` and `socks` say. */
export interface ClassGuard extends GuardLimits {
  readonly lookupsPerMinute?: number | undefined;
  /** At once. */
  readonly maxConnections?: number | undefined;
}

const CLASS_GUARD = EGRESS_LIMITS.filter((name): name is keyof ClassGuard => name !== 'egressClass');

/** The limits of an account: its own ones come before those of its class or of the configuration. */
export function guardOf(own: AccountLimits, general: ClassGuard): ClassGuard {
  const given = CLASS_GUARD.flatMap((name) => (own[name] === null ? [] : [[name, own[name]]]));
  return { ...general, ...Object.fromEntries(given) };
}

/** When an account is suspended: after so many refusals (0: never) within a time that begins with the first of them. */
export interface Suspension {
  readonly after: number;
  readonly withinMs: number;
  readonly forMs: number;
}

/**
 * What an account wants: a relayed connection, one request of HTTP (counted by the second only, because a download can make
 * thousands a minute to one destination), an association, or a datagram to a destination that its association does not know.
 */
export type GuardedUse = 'connection' | 'exchange' | 'association' | 'datagram';

/** A use that waits for `waitMs` because of `limit`, or is refused and would be allowed after that time. */
export interface Held {
  readonly waitMs: number;
  readonly limit: GuardLimit;
  readonly isRefused: boolean;
}

/** Maximum number of destinations that one account remembers, in about 2 MiB; further ones count each time. */
const MAX_DESTINATIONS = 65_536;
/** Distinguishes a destination that failed from the same destination in use. */
const FAILED = 0x5bd1e995;

/** The counts of one account. Made when the account is used, and freed when it `isIdle`. */
export class AccountGuard {
  readonly #buckets = Object.fromEntries(
    Object.keys(REFUSED_BY).map((limit) => [
      limit,
      new Bucket(limit.endsWith('Minute') ? MINUTE_MS : SECOND_MS),
    ]),
  ) as Readonly<Record<GuardLimit, Bucket>>;
  readonly #destinations = new Set<number>();
  #minuteEndsAt = 0;
  #usedAt = 0;

  /**
   * Counts a use, unless it would have to wait longer than `maxWaitMs`: then it is refused. What waits takes its turn, so that no
   * more uses wait than a limit allows within `maxWaitMs`.
   * @param destination the hash of its host and port
   * @param now monotonic, in ms
   * @returns null: it may go on at once
   */
  admit(
    use: GuardedUse,
    destination: number,
    limits: GuardLimits,
    now: number,
    maxWaitMs: number,
  ): Held | null {
    this.#begin(now);
    const isNew = use !== 'association' && !this.#destinations.has(destination);
    let held: Held | null = null;
    const counted = countedLimits(use, isNew);
    for (const limit of counted) {
      const waitMs = this.#buckets[limit].waitMs(limits[limit], now);
      if (waitMs > (held?.waitMs ?? 0)) held = { waitMs, limit, isRefused: waitMs > maxWaitMs };
    }
    if (held?.isRefused) return held;
    // Failures are counted when they happen.
    for (const limit of counted) if (limit !== 'failedConnectionsPerMinute') this.#buckets[limit].take();
    if (isNew) this.#remember(destination);
    return held;
  }

  /** A destination could not be reached. The same one counts once a minute. */
  failed(destination: number, now: number): void {
    this.#begin(now);
    if (this.#destinations.has(destination ^ FAILED)) return;
    this.#remember(destination ^ FAILED);
    // What has been tried before it failed does not count against later connections.
    this.#buckets.failedConnectionsPerMinute.take(0);
  }

  /** Unused for so long that every limit would start anew. */
  isIdle(now: number): boolean {
    return now - this.#usedAt > 2 * MINUTE_MS;
  }

  #remember(hash: number): void {
    if (this.#destinations.size < MAX_DESTINATIONS) this.#destinations.add(hash);
  }

  #begin(now: number): void {
    this.#usedAt = now;
    if (now < this.#minuteEndsAt) return;
    this.#minuteEndsAt = now + MINUTE_MS;
    this.#destinations.clear();
  }
}

const CONNECTION = ['connectionsPerSecond', 'connectionsPerMinute'] as const;
const NEW_DESTINATION = ['destinationsPerMinute', 'failedConnectionsPerMinute'] as const;

function countedLimits(use: GuardedUse, isNew: boolean): readonly GuardLimit[] {
  if (use === 'datagram') return isNew ? ['udpDestinationsPerSecond', 'destinationsPerMinute'] : [];
  if (isNew) return [...CONNECTION, ...NEW_DESTINATION];
  return use === 'exchange' ? ['connectionsPerSecond'] : CONNECTION;
}

/** A token bucket: `size` tokens at once, and as many again within `fillMs`. Its level may be below zero, at most by its size. */
class Bucket {
  readonly #fillMs: number;
  #left = Number.POSITIVE_INFINITY;
  #at = 0;
  #size = 0;

  constructor(fillMs: number) {
    this.#fillMs = fillMs;
  }

  /** Time until a token is there, in ms. @param size 0: there is always one */
  waitMs(size: number, now: number): number {
    const perMs = size / this.#fillMs;
    // A limit that is switched on later begins with all its tokens.
    this.#left =
      size === 0 ? Number.POSITIVE_INFINITY : Math.min(size, this.#left + (now - this.#at) * perMs);
    this.#at = now;
    this.#size = size;
    return this.#left >= 1 ? 0 : (1 - this.#left) / perMs;
  }

  take(least = -this.#size): void {
    if (this.#size > 0) this.#left = Math.max(least, this.#left - 1);
  }
}
