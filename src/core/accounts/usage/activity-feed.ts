// The activity of accounts on the other nodes, read from the database: traffic, logins, heartbeat entries.

/** A snapshot of the database (PostgreSQL `pg_snapshot`): which transactions a read saw. */
export interface DatabaseSnapshot {
  /** Whether the snapshot contains the writes of a transaction. */
  includes(transaction: bigint): boolean;
  /** Whether every transaction that the snapshot contains is earlier than `transaction`. */
  isBefore(transaction: bigint): boolean;
}

export type AccountActivity = { readonly accountId: string } & (
  | {
      readonly kind: 'traffic';
      readonly transaction: bigint;
      /** See calendar.ts. */
      readonly day: number;
      readonly bytesUp: number;
      readonly bytesDown: number;
    }
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
