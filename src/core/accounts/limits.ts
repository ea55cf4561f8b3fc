// Limits of accounts and quota periods: types and rules, without counting.
import { DAY_MS } from '../clock.js';
import type { DatabaseSnapshot } from './activity-feed.js';

/** When the quota resets: every UTC day, every week on Monday, every calendar month, or never. */
export type QuotaPeriod = 'day' | 'week' | 'month' | 'never';
export const QUOTA_PERIODS: readonly QuotaPeriod[] = ['day', 'week', 'month', 'never'];

/** Every limit is optional: null is "no limit". */
export interface AccountLimits {
  readonly maxSessions: number | null;
  /** Concurrent client addresses. */
  readonly maxClientAddresses: number | null;
  /** Client to destination, shared fairly by the sessions of the account. */
  readonly bytesPerSecondUp: number | null;
  /** Destination to client. */
  readonly bytesPerSecondDown: number | null;
  /** Up and down together, within one `quotaPeriod`. */
  readonly quotaBytes: number | null;
  readonly quotaPeriod: QuotaPeriod;
  /** Name of a class in the configuration (`egress.classes`); null: the default rules. */
  readonly egressClass: string | null;
}

export const NO_LIMITS: AccountLimits = {
  maxSessions: null,
  maxClientAddresses: null,
  bytesPerSecondUp: null,
  bytesPerSecondDown: null,
  quotaBytes: null,
  quotaPeriod: 'month',
  egressClass: null,
};

/** A reset of the quota at `at` (ms since the epoch), when the total usage of the account was `totalBytes`. */
export interface QuotaReset {
  readonly at: number;
  readonly totalBytes: number;
}

/** The usage of an account in bytes. */
export interface CountedTraffic {
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
  /** Since the start of the quota period; part of the totals. */
  readonly periodBytes: number;
}

/** Why a session is refused. */
export const LIMIT_REFUSALS = ['too-many-sessions', 'too-many-addresses', 'over-quota'] as const;
export type LimitRefusal = (typeof LIMIT_REFUSALS)[number];

/** The usage of an account compared with its limits. Times in milliseconds since the epoch. */
export interface LimitUsage {
  /** Number of live sessions. */
  readonly sessions: number;
  /** Distinct addresses of the live sessions. */
  readonly clientAddresses: number;
  /** Up and down since `periodStartedAt`. */
  readonly periodBytes: number;
  /** Null: since the account was created. */
  readonly periodStartedAt: number | null;
  /** When the quota resets; null: never. */
  readonly periodEndsAt: number | null;
  /** Since the account was created; a reset does not change it. */
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
}

/** Traffic of one account on one UTC day. */
export interface TrafficOfDay {
  readonly accountId: string;
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Sessions that began on that day. */
  readonly sessions: number;
}

/** The traffic of an account in bytes: in total, and up plus down since a given day. */
export interface TrafficSums {
  readonly accountId: string;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly bytesSince: number;
  /** The snapshot of which the sums were read; undefined: no other process writes traffic. */
  readonly snapshot?: DatabaseSnapshot;
}

/** 1970-01-01 was a Thursday: weeks begin on Monday, three days before it. */
const MONDAY_OFFSET_DAYS = 3;

/** Start of the period that contains `now`, in UTC; null when the period never ends. */
export function periodStart(period: QuotaPeriod, now: number): number | null {
  const days = dayOf(now);
  switch (period) {
    case 'day':
      return days * DAY_MS;
    case 'week':
      return (days - modulo(days + MONDAY_OFFSET_DAYS, 7)) * DAY_MS;
    case 'month':
      return monthStart(now, 0);
    case 'never':
      return null;
  }
}

/** Number of the period that contains `at`, counted in calendar periods. The period must end. */
export function periodIndex(period: Exclude<QuotaPeriod, 'never'>, at: number): number {
  if (period === 'month') {
    const date = new Date(at);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  }
  return period === 'week' ? Math.floor((dayOf(at) + MONDAY_OFFSET_DAYS) / 7) : dayOf(at);
}

/** Start of the next period; null when the period never ends. */
export function periodEnd(period: QuotaPeriod, now: number): number | null {
  if (period === 'month') return monthStart(now, 1);
  const start = periodStart(period, now);
  return start === null ? null : start + (period === 'week' ? 7 : 1) * DAY_MS;
}

/** The time since which the quota counts, in ms since the epoch: the start of the period or a later reset; null: always. */
export function countedSince(period: QuotaPeriod, resetAt: number | null, now: number): number | null {
  const start = periodStart(period, now);
  if (resetAt === null) return start;
  return start === null ? resetAt : Math.max(start, resetAt);
}

/** The UTC day of a time, in days since the Unix epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function monthStart(now: number, monthsOn: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsOn);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** The first day of the period, in days since the epoch; null when the period includes all days. */
export function firstDay(period: QuotaPeriod, now: number): number | null {
  const start = periodStart(period, now);
  return start === null ? null : dayOf(start);
}
