// The database interface of traffic counting. `store/` implements it with knex.
import type { TrafficOfDay, TrafficSums } from './limits.js';

export interface TrafficStore {
  /**
   * Adds to the traffic of many accounts and days; ignores unknown accounts.
   * @param batch number of the rows, rising in this process. A batch that is written already is not added again.
   */
  add(rows: readonly TrafficOfDay[], batch: number): Promise<void>;
  /** Days with traffic of the account since `fromDay`, oldest first. */
  days(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Sums of all or the given accounts with traffic; `bytesSince` counts from `fromDay` on (null: all). */
  sums(fromDay: number | null, accountIds?: readonly string[]): Promise<TrafficSums[]>;
}
