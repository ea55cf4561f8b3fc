// The database interfaces of traffic counting, which `store/` implements with knex: the traffic of this node, the activity of accounts
// on the other nodes (traffic, logins, heartbeat entries), and the usage of a quota period from the sums.
import type { Account } from '../account.js';
import type { Calendar } from './calendar.js';
import { QUOTA_PERIODS, type Traffic, type TrafficOfDay, type TrafficSums } from './limits.js';

export interface TrafficStore {
  /**
   * Adds to the traffic of many accounts and days; ignores unknown accounts.
   * @param batch number of the rows, rising in this process. A batch that is written already is not added again.
   * @param maxGames most GameIDs of an account that a day keeps; the others are added to OTHER_GAMES
   */
  add(rows: readonly TrafficOfDay[], batch: number, maxGames: number): Promise<void>;
  /** Days with traffic of the account since `fromDay`, oldest first. */
  days(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Sums of all or the given accounts with traffic; `bytesSince` counts from `fromDay` on (null: all). */
  sums(fromDay: number | null, accountIds?: readonly string[]): Promise<TrafficSums[]>;
}

/** The fields of an account that determine which traffic its quota counts. */
export type Counting = Pick<Account, 'id' | 'limits' | 'quotaReset'>;

/** Traffic sums from the database by account id; no entry for accounts without traffic. */
export type StoredTraffic = ReadonlyMap<string, TrafficSums>;

/** Maximum number of accounts whose sums one statement reads. */
const MAX_ACCOUNTS_PER_READ = 500;

/** A time in ms since the epoch, and the days by which it is counted. */
export interface Moment {
  readonly now: number;
  readonly calendar: Calendar;
}

/** Reads the sums of accounts for the periods of their quotas. */
export async function readTraffic(
  sums: TrafficStore['sums'],
  accounts: readonly Counting[],
  { now, calendar }: Moment,
): Promise<StoredTraffic> {
  const found = new Map<string, TrafficSums>();
  for (const period of QUOTA_PERIODS) {
    const ids = accounts.filter(({ limits }) => limits.quotaPeriod === period).map(({ id }) => id);
    for (let start = 0; start < ids.length; start += MAX_ACCOUNTS_PER_READ) {
      const read = await sums(
        calendar.firstDay(period, now),
        ids.slice(start, start + MAX_ACCOUNTS_PER_READ),
      );
      for (const each of read) found.set(each.accountId, each);
    }
  }
  return found;
}

/** The bytes that the quota of an account counts: since the start of the period or a later reset. */
export function periodBytesOf(
  { limits, quotaReset }: Omit<Counting, 'id'>,
  sums: Pick<TrafficSums, 'bytesUp' | 'bytesDown' | 'bytesSince'> | undefined,
  { now, calendar }: Moment,
): number {
  const { bytesUp, bytesDown, bytesSince } = sums ?? NO_TRAFFIC;
  const start = calendar.periodStart(limits.quotaPeriod, now);
  const countsFromReset = quotaReset !== null && (start === null || quotaReset.at >= start);
  return countsFromReset ? bytesUp + bytesDown - quotaReset.totalBytes : bytesSince;
}

const NO_TRAFFIC = { bytesUp: 0, bytesDown: 0, bytesSince: 0 };

export type AccountActivity = { readonly accountId: string } & (
  | ({ readonly kind: 'traffic'; readonly transaction: bigint } & Pick<TrafficOfDay, 'day' | keyof Traffic>)
  | { readonly kind: 'login'; readonly at: number }
  | { readonly kind: 'heartbeats' }
);

export interface ActivityRead {
  readonly activity: readonly AccountActivity[];
  /** Every transaction before this one has been read. */
  readonly upTo: bigint;
  /** Entries are missing, because this process was disconnected for too long or the database was replaced: read everything again. */
  readonly hasMissed: boolean;
}

export interface ActivityFeed {
  /** The activity that other nodes wrote since the last call. Call it one at a time. Rejects when the database cannot be read. */
  next(): Promise<ActivityRead>;
  /** Deletes the activity that every node has read. */
  trim(): Promise<void>;
}
