// An account as its worker has it, with what is alive of it.
import type { SessionEnd } from '../core/sessions/session.js';
import type { Destination, SessionCommand } from './destination.js';
import type { Endpoint } from './io/io.js';
import type { AccountRates } from './io/rates.js';
import type { AccountRecord } from './settings.js';

/** What an account may do to a live session of its own. */
export interface AccountSession {
  readonly command: SessionCommand;
  readonly client: Endpoint;
  /** Let in by its address, without credentials. */
  readonly isByAddress: boolean;
  readonly destination: Destination;
  end(reason: SessionEnd): void;
  setRates(rates: AccountRates | null): void;
  /** Its account has got a limit over all nodes: from now on it counts there. */
  holdPermit(): void;
}

/** An account in its worker. `record` is replaced when the operator changes the account. */
export interface Account {
  readonly record: AccountRecord;
  /** Of the account's own limits; null: none. */
  readonly rates: AccountRates | null;
  /** Live ones, the oldest first. */
  readonly sessions: ReadonlySet<AccountSession>;
}
