// Limits of accounts and their usage: types, and one description of each limit.
import { COUNT, choiceOf, GUARD_LIMIT, type Kind, TEXT } from '../fields/kinds.js';

/** When the quota resets: every day, every week on Monday, every calendar month (see calendar.ts), or never. */
export const QUOTA_PERIODS = ['day', 'week', 'month', 'never'] as const;
export type QuotaPeriod = (typeof QUOTA_PERIODS)[number];

/**
 * The kind of each limit, in the order of files and answers. Types, rows, files and defaults are made from it. Every limit is optional:
 * null is "no limit", unless it says something else.
 */
const LIMITS = {
  maxSessions: COUNT,
  maxClientAddresses: COUNT,
  /** Client to destination, shared fairly by the sessions of the account. */
  bytesPerSecondUp: COUNT,
  /** Destination to client. */
  bytesPerSecondDown: COUNT,
  /** Up and down together, within one `quotaPeriod`. */
  quotaBytes: COUNT,
  quotaPeriod: choiceOf(QUOTA_PERIODS, 'month'),
  /** Name of a class in the configuration (`egress.classes`); null: the default rules. */
  egressClass: TEXT,
  /** Of the guard (guard.ts), counted on each node. null: as the egress class or the configuration says; 0: any number. */
  connectionsPerSecond: GUARD_LIMIT,
  connectionsPerMinute: GUARD_LIMIT,
  destinationsPerMinute: GUARD_LIMIT,
  udpDestinationsPerSecond: GUARD_LIMIT,
  failedConnectionsPerMinute: GUARD_LIMIT,
  /** Names that are asked of the name servers; null and 0 as above. */
  lookupsPerMinute: GUARD_LIMIT,
  /** At once, an association counts twice; null and 0 as above. */
  maxConnections: GUARD_LIMIT,
};
export type AccountLimits = { readonly [Name in keyof typeof LIMITS]: (typeof LIMITS)[Name]['initial'] };
export const LIMIT_KINDS = Object.entries(LIMITS) as readonly [keyof AccountLimits, Kind<unknown>][];
/** Only who has the scope `egress:write` changes these, so that a seller does not lift what protects the server's address. */
export const EGRESS_LIMITS = LIMIT_KINDS.flatMap(([name, kind]) =>
  name === 'egressClass' || kind === GUARD_LIMIT ? [name] : [],
);

export const NO_LIMITS = Object.fromEntries(
  LIMIT_KINDS.map(([name, { initial }]) => [name, initial]),
) as unknown as AccountLimits;

/** A reset of the quota at `at` (ms since the epoch), when the total usage of the account was `totalBytes`. */
export interface QuotaReset {
  readonly at: number;
  readonly totalBytes: number;
}

export interface CountedTraffic {
  /** Since the account was created; a reset does not change it. */
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
  /** Up and down since the start of the quota period; part of the totals. */
  readonly periodBytes: number;
}

export const LIMIT_REFUSALS = ['too-many-sessions', 'too-many-addresses', 'over-quota'] as const;
export type LimitRefusal = (typeof LIMIT_REFUSALS)[number];

/** The usage of an account compared with its limits. Times in milliseconds since the epoch. */
export interface LimitUsage extends CountedTraffic {
  readonly sessions: number;
  readonly clientAddresses: number;
  /** Null: since the account was created. */
  readonly periodStartedAt: number | null;
  /** When the quota resets; null: never. */
  readonly periodEndsAt: number | null;
}

/** Bytes from clients to destinations, and back. */
export interface Traffic {
  readonly bytesUp: number;
  readonly bytesDown: number;
}

export interface TrafficOfDay extends Traffic {
  readonly accountId: string;
  /** See calendar.ts. */
  readonly day: number;
  /** Sessions that began on that day. */
  readonly sessions: number;
  /** Of the traffic, what is known by game and by exit. */
  readonly parts?: readonly TrafficPart[];
}

/** The traffic of one game, or through one exit. */
export interface TrafficPart extends Traffic {
  readonly kind: 'game' | 'exit';
  readonly name: string;
}

/** A snapshot of the database (PostgreSQL `pg_snapshot`): which transactions a read saw. */
export interface DatabaseSnapshot {
  /** Whether the snapshot contains the writes of a transaction. */
  includes(transaction: bigint): boolean;
  /** Whether every transaction that the snapshot contains is earlier than `transaction`. */
  isBefore(transaction: bigint): boolean;
}

/** The traffic of an account in bytes: in total, and up plus down since a given day. */
export interface TrafficSums extends Traffic {
  readonly accountId: string;
  readonly bytesSince: number;
  /** The snapshot of which the sums were read; undefined: no other process writes traffic. */
  readonly snapshot?: DatabaseSnapshot;
}
