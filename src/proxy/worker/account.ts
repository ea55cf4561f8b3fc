// An account in its worker, with its live sessions. A session imports its account: AccountSession is the session as seen from here.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { Destination, SessionCommand, SessionEnd } from '../../core/sessions/session.js';
import type { AccountRates, Quota } from '../io/rates.js';
import type { AccountRecord } from '../plane-settings.js';

export interface LoggedInClient {
  readonly client: Endpoint;
  /** Logged in by its address, without credentials. */
  readonly isByAddress: boolean;
  /** Of the account's link by whose password it was logged in; null: otherwise. */
  readonly linkHash: string | null;
}

/** What an account does with its live sessions. */
export interface AccountSession extends LoggedInClient {
  readonly command: SessionCommand;
  readonly destination: Destination;
  /** Bytes up and down so far. */
  readonly bytes: number;
  end(reason: SessionEnd): void;
  /** Time since the last transfer, in ms. `nowMs`: monotonic. */
  idleMs(nowMs: number): number;
  setRates(rates: AccountRates | null): void;
  /** The account now has a limit over all nodes: requests a permit for the session. */
  holdPermit(): void;
}

/** An account in its worker. `record` is replaced when the operator changes the account. */
export interface WorkerAccount {
  readonly record: AccountRecord;
  /** The rates from the account's limits; null: none. */
  readonly rates: AccountRates | null;
  /** What is left of its quota; null: none. */
  readonly quota: Quota | null;
  /** Live sessions, oldest first. */
  readonly sessions: ReadonlySet<AccountSession>;
  /** How many places they have; see places.ts. */
  readonly places: number;
}
