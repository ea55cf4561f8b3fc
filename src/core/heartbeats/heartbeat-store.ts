// The database interface of heartbeats. `store/` implements it with knex.
import type { Heartbeat, HeartbeatRetention, HeartbeatTotals } from './heartbeat.js';

export interface HeartbeatFilter {
  readonly accountId?: string;
  /** Only accounts of this seller. */
  readonly owner?: string;
  readonly gameId?: string;
  /** `from` is inside the range, `to` is not. */
  readonly from?: number;
  readonly to?: number;
}

/** An entry with its position in the order of arrival. */
export type StoredHeartbeat = Heartbeat & { readonly place: number };

export interface HeartbeatStore {
  /** Totals of every account that has entries, to load the pool at the start. */
  totals(): Promise<HeartbeatTotals[]>;
  /** Totals of these accounts, zero for accounts without entries. */
  totalsOf(accountIds: readonly string[]): Promise<HeartbeatTotals[]>;
  /**
   * Writes a batch in one transaction, applies `maxPerAccount`, and returns the new totals of every account in it.
   * Entries of accounts that no longer exist are dropped, and their account reported with count 0.
   * @param number of the batch, which increases in this process. Where a commit may be unknown (`isCommitUnknown`), a batch with the
   * number of a written one is not written again.
   */
  append(
    batch: readonly Heartbeat[],
    retention: HeartbeatRetention,
    number?: number,
  ): Promise<HeartbeatTotals[]>;
  /** Removes at most `limit` entries older than `before`. Returns the new totals of the affected accounts, and whether more are left. */
  trim(before: number, limit: number): Promise<{ changed: HeartbeatTotals[]; more: boolean }>;
  /** Newest first, at most `limit`, all before the position `before`. */
  list(filter: HeartbeatFilter, before: number | null, limit: number): Promise<StoredHeartbeat[]>;
  /** Newest first; for the account page and the command line. */
  newest(accountId: string, limit: number): Promise<Heartbeat[]>;
}
