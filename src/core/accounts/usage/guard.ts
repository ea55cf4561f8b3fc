// How much one account may open at a time: connections, destinations, failed connects. Against scans, spam and torrents.

/** The limits, each a number for one account on one node; 0: none. */
export const GUARD_LIMITS = [
  'connectionsPerSecond',
  'connectionsPerMinute',
  /** Distinct ones, of TCP and UDP together. */
  'destinationsPerMinute',
  /** Datagrams to destinations that the account has not used within the minute. */
  'udpDestinationsPerSecond',
  /** Destinations that could not be reached: then the account gets no new destination. */
  'failedConnectionsPerMinute',
] as const;
export type GuardLimit = (typeof GUARD_LIMITS)[number];
export type GuardLimits = Readonly<Record<GuardLimit, number>>;

/** What a limit refuses, or delays, as login history and log name it. */
export const GUARD_OUTCOMES = [
  'slowed',
  'too-many-connections',
  'too-many-destinations',
  'too-many-failed-connections',
] as const;
export type GuardOutcome = (typeof GUARD_OUTCOMES)[number];

/** @param limit the limit that refuses */
export function guardOutcome(limit: GuardLimit): GuardOutcome {
  if (limit === 'failedConnectionsPerMinute') return 'too-many-failed-connections';
  return limit.startsWith('connections') ? 'too-many-connections' : 'too-many-destinations';
}

/**
 * What an account wants: a relayed connection, one request of HTTP (counted by the second only, because a download can make
 * thousands a minute to one destination), an association, or a datagram to a destination that its association does not know.
 */
export type GuardedUse = 'connection' | 'exchange' | 'association' | 'datagram';

/** `waitMs` until the use is allowed, because of `limit`; 0 and null: at once. */
export interface Admission {
  readonly waitMs: number;
  readonly limit: GuardLimit | null;
}

const AT_ONCE: Admission = { waitMs: 0, limit: null };
const MINUTE_MS = 60_000;
/** Maximum number of destinations that one account remembers, in 512 KiB; further ones count each time. */
const MAX_DESTINATIONS = 65_536;
/** Distinguishes a destination that failed from the same destination in use. */
const FAILED = 0x5bd1e995;

/** The counts of one account. Made when the account is used, and freed when it `isIdle`. */
export class AccountGuard {
  readonly #buckets: Readonly<Record<GuardLimit, Bucket>> = {
    connectionsPerSecond: new Bucket(1_000),
    connectionsPerMinute: new Bucket(MINUTE_MS),
    destinationsPerMinute: new Bucket(MINUTE_MS),
    udpDestinationsPerSecond: new Bucket(1_000),
    failedConnectionsPerMinute: new Bucket(MINUTE_MS),
  };
  #destinations = new Hashes();
  #minuteEndsAt = 0;
  #usedAt = 0;

  /**
   * Counts a use, unless it would have to wait longer than `maxWaitMs`: then it is refused. What waits takes its turn, so that no
   * more uses wait than a limit allows within `maxWaitMs`.
   * @param destination the hash of its host and port
   * @param now monotonic, in ms
   */
  admit(
    use: GuardedUse,
    destination: number,
    limits: GuardLimits,
    now: number,
    maxWaitMs: number,
  ): Admission {
    this.#begin(now);
    const isNew = use !== 'association' && !this.#destinations.has(destination);
    let admission = AT_ONCE;
    const counted = (isNew ? COUNTED_IF_NEW : COUNTED)[use];
    for (const limit of counted) {
      const waitMs = this.#buckets[limit].waitMs(limits[limit], now);
      if (waitMs > admission.waitMs) admission = { waitMs, limit };
    }
    if (admission.waitMs > maxWaitMs) return admission;
    // Failures are counted when they happen.
    for (const limit of counted) if (limit !== 'failedConnectionsPerMinute') this.#buckets[limit].take();
    if (isNew) this.#destinations.add(destination);
    return admission;
  }

  /** A destination could not be reached. The same one counts once a minute. */
  failed(destination: number, now: number): void {
    this.#begin(now);
    if (this.#destinations.add(destination ^ FAILED)) this.#buckets.failedConnectionsPerMinute.take();
  }

  /** Unused for so long that every limit would start anew. */
  isIdle(now: number): boolean {
    return now - this.#usedAt > 2 * MINUTE_MS;
  }

  #begin(now: number): void {
    this.#usedAt = now;
    if (now < this.#minuteEndsAt) return;
    this.#minuteEndsAt = now + MINUTE_MS;
    this.#destinations = new Hashes();
  }
}

const CONNECTION = ['connectionsPerSecond', 'connectionsPerMinute'] as const;
const NEW_DESTINATION = ['destinationsPerMinute', 'failedConnectionsPerMinute'] as const;
const COUNTED: Readonly<Record<GuardedUse, readonly GuardLimit[]>> = {
  connection: CONNECTION,
  exchange: ['connectionsPerSecond'],
  association: CONNECTION,
  datagram: [],
};
const COUNTED_IF_NEW: Readonly<Record<GuardedUse, readonly GuardLimit[]>> = {
  connection: [...CONNECTION, ...NEW_DESTINATION],
  exchange: [...CONNECTION, ...NEW_DESTINATION],
  association: CONNECTION,
  datagram: ['udpDestinationsPerSecond', 'destinationsPerMinute'],
};

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
    this.#left = Math.min(size, this.#left + (now - this.#at) * perMs);
    this.#at = now;
    this.#size = size;
    return size === 0 || this.#left >= 1 ? 0 : (1 - this.#left) / perMs;
  }

  take(): void {
    if (this.#size > 0) this.#left = Math.max(-this.#size, this.#left - 1);
  }
}

/** Distinct hashes of 32 bits, in a table that grows with them; 0 marks a free place. */
class Hashes {
  #table = new Int32Array(32);
  #size = 0;

  has(hash: number): boolean {
    return this.#table[this.#placeOf(hash)] !== 0;
  }

  /** False: it is there already. */
  add(hash: number): boolean {
    if (this.has(hash)) return false;
    if (this.#size >= MAX_DESTINATIONS) return true;
    if (2 * this.#size >= this.#table.length) this.#grow();
    this.#table[this.#placeOf(hash)] = hash | 0 || 1;
    this.#size += 1;
    return true;
  }

  /** The place with this hash, or the free one where it belongs. */
  #placeOf(hash: number): number {
    const key = hash | 0 || 1;
    const mask = this.#table.length - 1;
    let at = (key ^ (key >>> 15)) & mask;
    while (this.#table[at] !== 0 && this.#table[at] !== key) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const before = this.#table;
    this.#table = new Int32Array(2 * before.length);
    for (const key of before) if (key !== 0) this.#table[this.#placeOf(key)] = key;
  }
}
