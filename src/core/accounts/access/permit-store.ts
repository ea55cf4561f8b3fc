// Session permits in the database: the open sessions of accounts with maxSessions or maxClientAddresses, with the node of each.
import type { AccountLimits, LimitRefusal } from '../usage/limits.js';

/** Limits that permits count for; null: no limit. */
export type PermitLimits = Pick<AccountLimits, 'maxSessions' | 'maxClientAddresses'>;

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
   * Removes the ended permits of this process, writes the held ones, and then decides the wanted ones, in their order per account.
   * A wanted permit counts against the permits of all live nodes, and is written unless it is refused. The exchange is atomic.
   * @returns the reasons of the refused permits, by id
   */
  exchange(now: {
    readonly endedIds: readonly string[];
    readonly held: readonly HeldPermit[];
    readonly wanted: readonly WantedPermit[];
    /** If the lease of this node has expired, extends it by this time: permits of a node without a lease do not count. */
    readonly leaseMs: number;
  }): Promise<ReadonlyMap<string, LimitRefusal>>;
  /**
   * Finds the permits of an account beyond these limits, of all live nodes; the permits that were written first stay. Notifies the
   * other nodes of their permits through the change log.
   * @returns the ids of the permits of this process
   */
  findSurplus(accountId: string, limits: PermitLimits): Promise<string[]>;
  /** Removes the permits of processes that no longer run. */
  trim(): Promise<void>;
}
