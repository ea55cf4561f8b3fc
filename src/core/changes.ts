// What other processes changed in the database, as the caches of this one learn of it.

/** Something that another process (the command line, later another daemon) changed in the database. */
export type Change =
  | { readonly topic: 'account'; readonly id: string }
  | { readonly topic: 'setting'; readonly key: string };

export interface ChangeFeed {
  /**
   * The next changes written by other processes, oldest first, each returned once; at most some hundreds, and none
   * only when there are no more.
   */
  next(): Promise<Change[]>;
}
