// A live session: its account, client, destination and traffic, and how to end it.
import type { Endpoint } from '../addresses/ip.js';

export type Protocol = 'tcp' | 'udp';

export type SessionEnd =
  | 'client-closed'
  | 'destination-closed'
  | 'client-reset'
  | 'destination-reset'
  | 'relay-failed'
  | 'idle-timeout'
  | 'half-close-timeout'
  /** It was idle longest when places ran out, and another session took its place. */
  | 'made-room'
  | 'account-removed'
  | 'account-renamed'
  | 'account-disabled'
  | 'account-suspended'
  | 'account-expired'
  | 'password-changed'
  | 'address-removed'
  | 'link-revoked'
  | 'client-not-allowed'
  | 'outside-schedule'
  | 'ended-by-operator'
  | 'over-quota'
  /** Its client spoke BitTorrent, which its egress rules deny. */
  | 'bittorrent'
  | 'limits-changed'
  | 'shutdown';

export type ClientProtocolName = 'socks5' | 'socks4' | 'http';

export interface SessionSummary {
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly end: SessionEnd;
  /** By a monotonic clock. */
  readonly durationMs: number;
  readonly gameId: string | null;
  readonly datagramsUp?: number;
  readonly datagramsDown?: number;
  readonly dropped?: Readonly<Record<string, number>>;
  /** Of an association: the first ones, and one more than are recorded. */
  readonly destinations?: readonly DatagramDestination[];
}

/** How a session began: the command of its client (RFC 1928 §4). */
export type SessionCommand = 'connect' | 'bind' | 'udp-associate';

/** `host` is the host in the client's request, `address` the address of the connection ('' while unknown). */
export interface Destination {
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** A destination of an association. The system chooses the address of each datagram: `outgoing` has the port only. */
export interface DatagramDestination extends Destination, Pick<Session, 'outgoing' | 'via' | 'exit'> {}

/** One relayed connection (CONNECT, BIND) or UDP association, as the control plane sees it. */
export interface Session {
  /** GUID. */
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly command: SessionCommand;
  readonly protocol: Protocol;
  readonly clientProtocol: ClientProtocolName;
  readonly client: Endpoint;
  readonly destination: Destination;
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  readonly gameId: string | null;
  /** The upstream proxy, as `host:port`; null for a direct connection. */
  readonly via: string | null;
  /** The name of the exit by which it leaves; null: none. */
  readonly exit: string | null;
  /** Our end of the connection to the destination, or to `via`; null while an association has sent nothing. */
  readonly outgoing: Endpoint | null;
  /** From the request to the connection, with the lookup of the name, in ms; null for an association. */
  readonly connectMs: number | null;
  /** Bytes client to destination, as of the last count. */
  readonly bytesUp: number;
  /** Bytes destination to client, as of the last count. */
  readonly bytesDown: number;
  /** In a handover: the bytes that no heartbeat entry has yet. */
  unrecorded?: { readonly up: number; readonly down: number } | undefined;
  /** Updates the byte counts; returns whether they have changed. Only the registry calls it, and publishes the difference. */
  count(): boolean;
  /** Requests the worker to close both sides. The registry removes the session when the worker has done so. Further calls do nothing. */
  end(reason: SessionEnd): void;
}

export interface SessionEvents {
  opened(session: Session): void;
  /** A UDP association sends to a destination for the first time. */
  destinationChanged(session: Session): void;
  gameChanged(session: Session): void;
  closed(session: Session, summary: SessionSummary): void;
  /** Replaces `opened` and `closed` for a session that had ended when it was first reported. */
  passed(session: Session, summary: SessionSummary): void;
}

export interface SessionObserver extends SessionEvents {
  /** In place of `opened`: the session has come from the process before this one. @param recorded see SessionSummary.destinations */
  resumed(session: Session, recorded: readonly DatagramDestination[]): void;
  /** The live sessions continue in another process. `traffic` has been called; nothing else follows, unless that fails. */
  handingOver(): void;
  /** The bytes since the last call. Called once a second while the session transfers bytes, and before each other event of it. */
  traffic(session: Session, bytesUp: number, bytesDown: number): void;
  /** Called about once a second, when the traffic of all sessions has been published. */
  counted(): void;
}

/** A live session of any node, as of its last write by the node. */
export interface LiveSessionView extends Omit<Session, 'count' | 'end' | 'unrecorded'> {
  /** Bytes per second. */
  readonly rateUp: number;
  readonly rateDown: number;
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
