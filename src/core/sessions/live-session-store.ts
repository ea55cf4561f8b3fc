// The database interface of live sessions: each node writes its own sessions, and reads those of the other nodes.
import type { Protocol, Session } from './session.js';

/** A live session of any node, as of its last write by the node. */
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
    | 'via'
    | 'exit'
    | 'outgoing'
    | 'connectMs'
  > {
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Bytes per second. */
  readonly rateUp: number;
  readonly rateDown: number;
  /** Name of the session's node. */
  readonly node: string;
}

export interface LiveSessionFilter {
  /** Part of user name, client address, destination (`host:port/tcp`, with the requested host or the address) or GameID, in lower case. */
  readonly search: string;
  readonly accountId?: string | undefined;
  readonly game?: string | undefined;
  readonly protocol?: Protocol | undefined;
}

/** The sessions of an account on the other nodes. */
export interface AccountElsewhere {
  readonly accountId: string;
  readonly sessions: number;
  /** Number of nodes with sessions of the account. */
  readonly nodes: number;
  readonly clientAddresses: readonly string[];
  readonly gameIds: readonly string[];
  readonly rateUp: number;
  readonly rateDown: number;
}

export interface LiveSessionStore {
  /** Writes the current state of sessions of this process, and removes ended ones. */
  write(sessions: readonly Omit<LiveSessionView, 'node'>[], endedIds: readonly string[]): Promise<void>;
  /** Lists sessions of the other live nodes: the newest matching ones, at most `limit`, and the number of all matching ones. */
  list(
    filter: LiveSessionFilter,
    limit: number,
  ): Promise<{ readonly items: LiveSessionView[]; readonly matched: number }>;
  /** Sessions of the other live nodes. */
  byIds(ids: readonly string[]): Promise<LiveSessionView[]>;
  /** All accounts with sessions on the other live nodes. */
  byAccount(): Promise<AccountElsewhere[]>;
  /** Requests the nodes of these sessions to end them. */
  requestEnd(ids: readonly string[]): Promise<void>;
  /** Requests all other nodes to end every session of an account, including sessions that are not written yet. */
  requestEndOfAccount(accountId: string): Promise<void>;
  /** Removes the sessions of processes that no longer run. */
  trim(): Promise<void>;
}
