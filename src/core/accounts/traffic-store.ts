// What the counting of traffic asks of a database. `store/` implements it with knex.
import type { TrafficOfDay, TrafficSums } from './limits.js';

export interface TrafficStore {
  /** Adds to the traffic of many accounts and days at once; unknown accounts are passed over. */
  add(rows: readonly TrafficOfDay[]): Promise<void>;
  /** Days on which the account moved anything, from `fromDay` on, oldest first. */
  days(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Sums of the accounts that have traffic, all or those given; `bytesSince` counts from `fromDay` on (null: everything). */
  sums(fromDay: number | null, accountIds?: readonly string[]): Promise<TrafficSums[]>;
}
