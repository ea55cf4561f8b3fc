// The database interface of reply delivery. `store/` implements it with knex.
import { HOUR_MS } from '../clock.js';
import type { Delivery, Run } from './runs.js';

/** An attempt is never due so far ahead, in ms: its due time was written before the clock was set back, and it is due now. */
export const NEVER_DUE_AHEAD_MS = 2 * HOUR_MS;

export interface DeliveryStore {
  /**
   * Runs whose next delivery attempt is due by `now`, earliest first: runs of `owner`, and runs without an owner, which `owner`
   * adopts.
   */
  due(owner: string, now: number, limit: number): Promise<Run[]>;
  /** When the next attempt for a run of `owner` or without an owner is due; null when there is none. */
  nextDueAt(owner: string): Promise<number | null>;
  /** Stores an attempt. `nextAt` null ends the delivery as delivered or failed. */
  record(delivery: Delivery, nextAt: number | null): Promise<void>;
  /** Ends a delivery without a channel, without an attempt. */
  dismiss(runId: string): Promise<void>;
  /** Oldest first. */
  ofRun(runId: string): Promise<Delivery[]>;
}
