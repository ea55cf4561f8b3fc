// One session of a player in its worker: a relayed connection (CONNECT, BIND) or a UDP association, from the request on.
// It belongs to an account of this worker, counts its bytes in memory that the control plane reads, and ends once.
import type { ClientProtocolName, SessionEnd } from '../core/sessions/session.js';
import type { Account } from './account.js';
import type { Destination, SessionCommand } from './destination.js';
import type { PayloadInspector } from './game-watch.js';
import type { Endpoint } from './io/io.js';
import type { AccountRates } from './io/rates.js';
import type { Permit } from './permits.js';

/** Whoever moves the session's bytes. */
export interface SessionOwner {
  /** Ends it for a reason from outside; the owner calls `session.finish` or `session.abandon`. */
  end(reason: SessionEnd): void;
  /** About once a second. `nowMs`: monotonic. */
  tick(nowMs: number): void;
  setRates(rates: AccountRates | null): void;
}

export interface SessionRequest {
  readonly command: SessionCommand;
  readonly clientProtocol: ClientProtocolName;
  /** Its account was found by its address. */
  readonly isByAddress: boolean;
  readonly account: Account;
  readonly client: Endpoint;
  readonly destination: { readonly host: string; readonly port: number };
  readonly owner: SessionOwner;
  /** Counts it over all nodes; null: its account has no limit there. */
  readonly permit: Permit | null;
}

/** Further fields of the log line of an association. */
export interface DatagramSummary {
  readonly datagramsUp: number;
  readonly datagramsDown: number;
  readonly dropped: Readonly<Record<string, number>>;
}

export interface Session {
  readonly account: Account;
  readonly command: SessionCommand;
  readonly client: Endpoint;
  readonly destination: Destination;
  readonly gameId: string | null;
  /** The upstream proxy it goes through, as `host:port`; null when it goes directly. */
  via: string | null;
  /** From now on somebody else moves its bytes. */
  setOwner(owner: SessionOwner): void;
  /** Bytes up at `countAt`, down at `countAt + 1`. */
  readonly counts: Float64Array;
  readonly countAt: number;
  readonly isEnded: boolean;
  /** The rates of its account now; null: none. */
  rates(): AccountRates | null;
  /**
   * Both sides are connected: from now on the control plane knows of it.
   * @param address what was dialled; '' for a name that the upstream proxy resolves
   * @returns what must see the client's first bytes; null when no game rule needs them
   */
  start(address: string): PayloadInspector | null;
  /**
   * An association sends to a destination it has not sent to before.
   * @returns what must see the first datagrams to it, one datagram a call; null when no rule needs them
   */
  newDestination(destination: Destination): PayloadInspector | null;
  /** It is over. Reports it, and releases its slot. Calling it again does nothing. */
  finish(end: SessionEnd, datagrams?: DatagramSummary): void;
  /** It is over before it was started: no heartbeat, no log line. */
  abandon(): void;
}

export type { Destination, SessionCommand } from './destination.js';
export type { SessionEnd };
