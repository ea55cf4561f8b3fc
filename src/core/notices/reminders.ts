// Reminders: what is announced of an account, its expiry and its quota. They reach the player at once, and the operator by a digest.
import { type Account, isSuspended } from '../accounts/account.js';
import { isByGuard } from '../accounts/usage/guard.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time/clock.js';
import { shownIn, zonedTime } from '../time/time-zone.js';
import type { Announcement } from './notice.js';

export interface QuotaUse {
  readonly usedBytes: number;
  readonly quotaBytes: number;
  /** Identifies the quota period. */
  readonly period: string;
  /** End of the period, in ms since the epoch; null: the quota never resets. */
  readonly endsAt: number | null;
}

/** Time after an expiry in which it is announced. A daemon that starts later does not announce it. */
const EXPIRED_MS = DAY_MS;
const FOREVER = Number.MAX_SAFE_INTEGER;

const dayOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** Returns a reminder's key without its period: step and account. At most one a day is recorded. */
export const reminderSlot = (key: string): string => key.split(' ', 2).join(' ');

/** Announces only the nearest reached step: after a pause of the daemon, earlier steps are not announced later. */
export function expiryOf(
  { id, username, expiresAt }: Account,
  days: readonly number[],
  at: number,
): Announcement | null {
  if (expiresAt === null || at >= expiresAt + EXPIRED_MS) return null;
  const reached = days.filter((each) => each > 0 && expiresAt - at <= each * DAY_MS);
  const isExpired = at >= expiresAt;
  if (isExpired ? !days.includes(0) : reached.length === 0) return null;
  const step = isExpired ? 0 : Math.min(...reached);
  // The day, not the time: another hour of the same day does not count as another expiry.
  const day = dayOf(expiresAt);
  return {
    key: `expiring-${step} ${id} ${day}`,
    type: isExpired ? 'account.expired' : 'account.expiring',
    at,
    accountId: id,
    data: { account: id, username, expiresAt: new Date(expiresAt).toISOString() },
    keepUntil: day + DAY_MS + EXPIRED_MS,
  };
}

/** Announces only the highest reached share. */
export function quotaOf(
  { id, username }: Account,
  { usedBytes, quotaBytes, period, endsAt }: QuotaUse,
  percents: readonly number[],
  at: number,
): Announcement | null {
  const reached = percents.filter((each) => usedBytes * 100 >= quotaBytes * each);
  if (reached.length === 0) return null;
  const step = Math.max(...reached);
  const used = Math.floor((usedBytes / quotaBytes) * 100);
  return {
    // A changed quota counts as a new one, which is announced again, but not on the same day.
    key: `quota-${step} ${id} ${period} ${quotaBytes}`,
    type: `account.quota-${step}`,
    at,
    accountId: id,
    data: { account: id, username, used, usedBytes, quotaBytes },
    keepUntil: endsAt ?? FOREVER,
  };
}

/** Tells the player why an operator has suspended the account. The operator knows. */
export function suspensionOf(account: Account, at: number): Announcement | null {
  const { id, username, suspendedUntil, suspendReason } = account;
  if (!isSuspended(account, at) || isByGuard(suspendReason)) return null;
  return {
    // Each suspension is announced, also the second of a day.
    key: `suspended-${suspendedUntil} ${id}`,
    type: 'account.suspended',
    at,
    accountId: id,
    data: { account: id, username, reason: suspendReason },
    keepUntil: suspendedUntil ?? at,
  };
}

/** A digest is made this long after its hour: by then every daemon has recorded what it found before the hour. */
const SETTLE_MS = MINUTE_MS;
/** Most accounts in a digest. The counts contain all. */
const MAX_ACCOUNTS = 200;

/** The end of the newest digest that can be made at `at`: the last time when the clock in `zone` showed `hour`. */
export function digestEnd(at: number, hour: number, zone: string): number {
  const settled = at - SETTLE_MS;
  const local = shownIn(zone, settled);
  const day = local - (((local % DAY_MS) + DAY_MS) % DAY_MS);
  const today = zonedTime(day + hour * HOUR_MS, zone);
  return today <= settled ? today : zonedTime(day - DAY_MS + hour * HOUR_MS, zone);
}

/** What the digest says of an account. */
interface DigestEntry extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

export interface DigestData extends Readonly<Record<string, unknown>> {
  readonly since: string;
  readonly until: string;
  /** Numbers of accounts. */
  readonly expiring: number;
  readonly expired: number;
  readonly quota: number;
  readonly accounts: readonly DigestEntry[];
}

/**
 * Returns the content of a digest; null: there is nothing to say. Of each account only the newest step counts, and none that was
 * deleted, disabled, or got another expiry since.
 */
export function digestOf(
  reminders: readonly Announcement[],
  range: { readonly since: number; readonly until: number },
  accountOf: (id: string) => Account | undefined,
): DigestData | null {
  const newest = new Map<string, DigestEntry>();
  for (const { type, accountId, data } of reminders) {
    const account = accountOf(accountId ?? '');
    if (!account?.isEnabled || type === 'account.suspended') continue;
    const { expiresAt } = data;
    if (typeof expiresAt === 'string' && Date.parse(expiresAt) !== account.expiresAt) continue;
    newest.set(`${accountId} ${expiresAt === undefined}`, { type, ...data, username: account.username });
  }
  const all = [...newest.values()];
  if (all.length === 0) return null;
  const count = (type: string) => all.filter((each) => each.type === type).length;
  const [expiring, expired] = [count('account.expiring'), count('account.expired')];
  return {
    since: new Date(range.since).toISOString(),
    until: new Date(range.until).toISOString(),
    expiring,
    expired,
    quota: all.length - expiring - expired,
    accounts: all.slice(0, MAX_ACCOUNTS),
  };
}
