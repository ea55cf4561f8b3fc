// What the rules of limits ask of a database. `store/` implements it with knex.
import type { Actor } from '../audit/audit.js';
import type { KeptLimits, TrafficOfDay, TrafficSums } from './limits.js';

export interface LimitStore {
  /** Of every account that has limits, or had some. */
  all(): Promise<({ readonly accountId: string } & KeptLimits)[]>;
  /** Those of the accounts that have limits, or had some. */
  getMany(accountIds: readonly string[]): Promise<ReadonlyMap<string, KeptLimits>>;
  /** Writes many in one transaction; returns the ids of those whose account there is. `before` is for the audit log. */
  saveMany(
    entries: readonly {
      readonly accountId: string;
      readonly kept: KeptLimits;
      readonly before: KeptLimits;
    }[],
    by: Actor,
  ): Promise<ReadonlySet<string>>;
  /** Adds to the traffic of many accounts and days at once; unknown accounts are passed over. */
  addTraffic(rows: readonly TrafficOfDay[]): Promise<void>;
  /** Days on which the account moved anything, from `fromDay` on, oldest first. */
  traffic(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Sums of the accounts that have traffic, all or those given; `bytesSince` counts from `fromDay` on (null: everything). */
  sums(fromDay: number | null, accountIds?: readonly string[]): Promise<TrafficSums[]>;
}
