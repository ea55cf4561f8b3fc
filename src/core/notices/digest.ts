// The digest: once a day, one message to the operator by each channel, about the accounts that reached a step since the last one.
import type { Account } from '../accounts/account.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.js';
import { shownIn, zonedTime } from '../time-zone.js';
import type { Announcement } from './notice.js';

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
    if (!account?.isEnabled) continue;
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
