// Live sessions of all nodes, as the database has them: each node writes its own, and reads those of the others.
import type { Protocol, Session } from './session.js';

/** A live session of any node, as it was when its node last wrote it. */
export interface LiveSessionView
  extends Pick<
    Session,
    | 'id'
    | 'accountId'
    | 'username'
    | 'command'
    | 'protocol'
    | 'clientProtocol'
    | 'client'
    | 'destination'
    | 'openedAt'
    | 'gameId'
  > {
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Bytes a second. */
  readonly rateUp: number;
  readonly rateDown: number;
  /** Name of the node that it is at. */
  readonly node: string;
}

export interface LiveSessionFilter {
  /** Part of user name, client address, destination or GameID, in lower case. */
  readonly search: string;
  readonly accountId?: string | undefined;
  readonly game?: string | undefined;
  readonly protocol?: Protocol | undefined;
}

/** The sessions of an account at the other nodes. */
export interface AccountElsewhere {
  readonly accountId: string;
  readonly sessions: number;
  /** How many nodes have some of them. */
  readonly nodes: number;
  readonly clientAddresses: readonly string[];
  readonly gameIds: readonly string[];
  readonly rateUp: number;
  readonly rateDown: number;
}

export interface LiveSessionStore {
  /** Writes sessions of this process as they are now, and removes those that have ended. */
  write(now: readonly Omit<LiveSessionView, 'node'>[], endedIds: readonly string[]): Promise<void>;
  /** Of the other live nodes: how many match, and the newest of these, at most `limit`. */
  list(
    filter: LiveSessionFilter,
    limit: number,
  ): Promise<{ readonly items: LiveSessionView[]; readonly matched: number }>;
  /** Of the other live nodes. */
  byIds(ids: readonly string[]): Promise<LiveSessionView[]>;
  /** All accounts with sessions at the other live nodes. */
  byAccount(): Promise<AccountElsewhere[]>;
  /** Asks the nodes of these sessions to end them. */
  requestEnd(ids: readonly string[]): Promise<void>;
  /** Asks all other nodes to end every session of an account, also those that are not written yet. */
  requestEndOfAccount(accountId: string): Promise<void>;
  /** Removes what processes that are gone have left. */
  trim(): Promise<void>;
}
