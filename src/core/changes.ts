// Changes that other processes made in the database, to update the caches of this process.

/** A change that another process (the command line, another daemon) made in the database. */
export type Change =
  | { readonly topic: 'account'; readonly id: string }
  | { readonly topic: 'setting'; readonly key: string }
  /** An operator ends a session, or all of an account, that may be at this node. */
  | { readonly topic: 'end-session' | 'end-sessions-of-account'; readonly id: string }
  /** The permit of a session, maybe of this node, is beyond the limits of its account. */
  | { readonly topic: 'revoke-permit'; readonly id: string }
  /** A source is refused because of failed attempts at another node. `id`: the key of the penalty. */
  | { readonly topic: 'penalty'; readonly id: string }
  /** This process missed changes that are no longer kept, or the database was replaced: everything may have changed. */
  | { readonly topic: 'everything' };

export interface ChangeFeed {
  /**
   * The next changes by other processes, oldest first, each returned once; at most some hundreds. Empty only when there are no more.
   */
  next(): Promise<Change[]>;
  /** Calls `wake` when the database notifies of changes. Notifications may be lost, so also call `next` periodically. */
  listen(wake: () => void): { stop(): Promise<void> };
}
