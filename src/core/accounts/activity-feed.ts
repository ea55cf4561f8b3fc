// What accounts do at the other nodes, as it is written there: traffic, logins, heartbeat entries.

/** A moment of the database, which a transaction is before or not. */
export interface AsOf {
  /** Whether the writes of a transaction were in what was read then. */
  includes(transaction: bigint): boolean;
  /** Whether every transaction before `transaction` was over by then, and every later one begun after it. */
  isBefore(transaction: bigint): boolean;
}

export type AccountActivity = { readonly accountId: string } & (
  | {
      readonly kind: 'traffic';
      readonly transaction: bigint;
      /** Days since the epoch, UTC. */
      readonly day: number;
      readonly bytesUp: number;
      readonly bytesDown: number;
    }
  | { readonly kind: 'login'; readonly at: number }
  /** Its entries are others, or more. */
  | { readonly kind: 'heartbeats' }
);

export interface ActivityRead {
  readonly activity: readonly AccountActivity[];
  /** Every transaction before this one has been read. */
  readonly upTo: bigint;
  /** This process was away for too long, or the database is another one: everything is to be read again. */
  readonly hasMissed: boolean;
}

export interface ActivityFeed {
  /** What other nodes wrote since the last call; one call at a time. */
  next(): Promise<ActivityRead>;
  /** Forgets what every reader has read. */
  trim(): Promise<void>;
}
