// One session of a player in its worker: a relayed connection (CONNECT, BIND) or a UDP association, from its request to its
// end. It belongs to an account of this worker, and counts its bytes in shared memory.
import type { Endpoint } from '../../core/ip.js';
import type {
  ClientProtocolName,
  Destination,
  SessionCommand,
  SessionEnd,
} from '../../core/sessions/session.js';
import type { PayloadInspector } from '../connection/game-watch.js';
import type { AccountRates } from '../io/rates.js';
import type { WorkerAccount } from './account.js';
import type { Permit } from './permits.js';

/** The object that transfers the session's bytes. */
export interface SessionOwner {
  /** Ends the transfer for an external reason; the owner then calls `session.finish` or `session.abandon`. */
  end(reason: SessionEnd): void;
  /** Called about once a second. `nowMs`: monotonic time in ms. */
  tick(nowMs: number): void;
  /** Time since the last transfer, in ms; 0 while the session is being set up. */
  idleMs(nowMs: number): number;
  setRates(rates: AccountRates | null): void;
}

export interface SessionRequest {
  readonly command: SessionCommand;
  readonly clientProtocol: ClientProtocolName;
  /** Its account was found by its address. */
  readonly isByAddress: boolean;
  readonly account: WorkerAccount;
  readonly client: Endpoint;
  readonly destination: { readonly host: string; readonly port: number };
  readonly owner: SessionOwner;
  /** The permit over all nodes; null: the account has no such limit. */
  readonly permit: Permit | null;
}

/** Further fields of the log line of an association. */
export interface DatagramSummary {
  readonly datagramsUp: number;
  readonly datagramsDown: number;
  readonly dropped: Readonly<Record<string, number>>;
}

export interface WorkerSession {
  readonly account: WorkerAccount;
  readonly command: SessionCommand;
  readonly client: Endpoint;
  readonly destination: Destination;
  readonly gameId: string | null;
  /** The upstream proxy as `host:port`; null: direct. */
  via: string | null;
  /** Sets the new owner. */
  setOwner(owner: SessionOwner): void;
  /** Bytes up at `countAt`, down at `countAt + 1`. */
  readonly counts: Float64Array;
  readonly countAt: number;
  readonly isEnded: boolean;
  /** The present rates of its account; null: none. */
  rates(): AccountRates | null;
  /**
   * Both sides are connected: reports the session to the control plane.
   * @param address the address of the destination; '' for a name that the upstream proxy resolves
   * @returns an inspector for the client's first bytes; null: no game rule needs them
   */
  start(address: string): PayloadInspector | null;
  /**
   * An association sends to a new destination.
   * @returns an inspector for the first datagrams to it, one datagram for each call; null: no game rule needs them
   */
  newDestination(destination: Destination): PayloadInspector | null;
  /** Ends the session: reports it and releases its slot. Further calls do nothing. */
  finish(end: SessionEnd, datagrams?: DatagramSummary): void;
  /** Ends a session that was not started: no heartbeat entry, no log line. */
  abandon(): void;
}
