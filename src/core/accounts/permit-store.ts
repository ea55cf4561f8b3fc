// The permits of sessions in the database: which sessions of accounts with maxSessions or maxClientAddresses are open at which node.
import type { LimitRefusal } from './limits.js';

export interface HeldPermit {
  /** GUID. */
  readonly id: string;
  readonly accountId: string;
  /** Client address. */
  readonly client: string;
}

export interface WantedPermit extends HeldPermit {
  /** null: no limit. */
  readonly maxSessions: number | null;
  readonly maxClientAddresses: number | null;
}

export interface PermitStore {
  /**
   * Removes the ended permits of this process, writes those that it holds, and then decides the wanted ones, in their order per account:
   * each counts against the permits of all live nodes, and is written if it is not refused. All of it or nothing.
   * @returns the reason of each refused one, by its id
   */
  exchange(now: {
    readonly endedIds: readonly string[];
    readonly held: readonly HeldPermit[];
    readonly wanted: readonly WantedPermit[];
    /** If the lease of this node has run out, it is extended by this: permits of a lost node do not count. */
    readonly leaseMs: number;
  }): Promise<ReadonlyMap<string, LimitRefusal>>;
  /** Removes what processes that are gone have left. */
  trim(): Promise<void>;
}
