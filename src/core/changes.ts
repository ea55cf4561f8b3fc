// What other processes changed in the database, as the caches of this one learn of it.

/** Something that another process (the command line, another daemon) changed in the database. */
export type Change =
  | { readonly topic: 'account'; readonly id: string }
  | { readonly topic: 'setting'; readonly key: string }
  /** An operator ends a session, or all of an account, that may be at this node. */
  | { readonly topic: 'end-session' | 'end-sessions-of-account'; readonly id: string }
  /** This process was away for longer than changes are kept, or the database is another one: anything may have changed. */
  | { readonly topic: 'everything' };

export interface ChangeFeed {
  /**
   * The next changes written by other processes, oldest first, each returned once; at most some hundreds, and none
   * only when there are no more.
   */
  next(): Promise<Change[]>;
  /** Calls `wake` when there may be changes, as soon as the database says so. It need not: ask now and then all the same. */
  listen(wake: () => void): { stop(): Promise<void> };
}
