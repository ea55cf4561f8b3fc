// What the delivery of replies asks of a database. `store/` implements it with knex.
import type { Delivery, Run } from './runs.js';

export interface DeliveryStore {
  /** Runs whose next try is due by `now`, held by `owner` or by nobody (they are taken over), earliest first. */
  due(owner: string, now: number, limit: number): Promise<Run[]>;
  /** When the next try of `owner` (or of nobody) is due; null without one. */
  nextDueAt(owner: string): Promise<number | null>;
  /** Keeps a try and what follows from it: `nextAt` null ends the delivery as delivered or failed. */
  record(delivery: Delivery, nextAt: number | null): Promise<void>;
  /** Ends a delivery that has nowhere to go, without a try. */
  dismiss(runId: string): Promise<void>;
  /** Oldest first. */
  ofRun(runId: string): Promise<Delivery[]>;
}
