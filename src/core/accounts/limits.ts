// What an account may use at most, and when its quota starts again: types and rules, no counting.
import { DAY_MS } from '../clock.js';
import type { AsOf } from './activity-feed.js';

/** After which a used-up quota is there again: the UTC day, the week from Monday, the calendar month, or never. */
export type QuotaPeriod = 'day' | 'week' | 'month' | 'never';
export const QUOTA_PERIODS: readonly QuotaPeriod[] = ['day', 'week', 'month', 'never'];

/** Every limit is optional: null is "no limit". */
export interface AccountLimits {
  readonly maxSessions: number | null;
  /** Different client addresses at the same time. */
  readonly maxClientAddresses: number | null;
  /** Client to destination, shared fairly by the account's sessions. */
  readonly bytesPerSecondUp: number | null;
  /** Destination to client. */
  readonly bytesPerSecondDown: number | null;
  /** Up and down together, within one `quotaPeriod`. */
  readonly quotaBytes: number | null;
  readonly quotaPeriod: QuotaPeriod;
  /** Name of a class in the configuration (`egress.classes`); null: the rules that hold for everybody. */
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

/** The quota period was started again `at` (ms since the epoch), when the account had used `totalBytes` in all. */
export interface QuotaReset {
  readonly at: number;
  readonly totalBytes: number;
}

/** Bytes that an account has used. */
export interface CountedTraffic {
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
  /** Since the quota last began; part of the totals. */
  readonly periodBytes: number;
}

/** Why a session is not let in. */
export type LimitRefusal = 'too-many-sessions' | 'too-many-addresses' | 'over-quota';

/** What an account has used of its limits. Times in milliseconds since the epoch. */
export interface LimitUsage {
  /** Live now. */
  readonly sessions: number;
  /** Different ones, of the live sessions. */
  readonly clientAddresses: number;
  /** Up and down since `periodStartedAt`. */
  readonly periodBytes: number;
  /** null: since the account exists. */
  readonly periodStartedAt: number | null;
  /** When the quota starts again; null: never. */
  readonly periodEndsAt: number | null;
  /** Since the account exists; a reset does not erase it. */
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

/** An account's traffic, in bytes: all of it, and up and down together since some day. */
export interface TrafficSums {
  readonly accountId: string;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly bytesSince: number;
  /** When it was read; undefined: no other process adds to it. */
  readonly asOf?: AsOf;
}

/** 1970-01-01 was a Thursday: weeks begin on Monday, three days before it. */
const MONDAY_OFFSET_DAYS = 3;

/** First moment of the period that `now` is in; null when the period never ends. All in UTC. */
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

/** First moment of the next period; null when there is none. */
export function periodEnd(period: QuotaPeriod, now: number): number | null {
  if (period === 'month') return monthStart(now, 1);
  const start = periodStart(period, now);
  return start === null ? null : start + (period === 'week' ? 7 : 1) * DAY_MS;
}

/** From when the quota counts, in ms since the epoch: the period's first moment or a later reset; null: since ever. */
export function countedSince(period: QuotaPeriod, resetAt: number | null, now: number): number | null {
  const start = periodStart(period, now);
  if (resetAt === null) return start;
  return start === null ? resetAt : Math.max(start, resetAt);
}

/** The UTC day of a moment, in days since the Unix epoch. */
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
