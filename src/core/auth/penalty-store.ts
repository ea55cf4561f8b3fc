// The database interface of penalties. `store/` implements it with knex.
export interface StoredPenalty {
  readonly key: string;
  /** Time until it ends, in ms. */
  readonly leftMs: number;
}

export interface PenaltyStore {
  /** Publishes penalties to the other nodes; when there are too many, drops those that end first. */
  add(penalties: readonly StoredPenalty[]): Promise<void>;
  /** The penalties that have not ended: those with these keys, or all. */
  live(keys?: readonly string[]): Promise<StoredPenalty[]>;
}
