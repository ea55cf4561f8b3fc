// Limits the decisions per second of an account: new destinations, unknown senders, fragments. Datagrams with a route, a
// source or a recent verdict need no decision. A flood to or from an account therefore costs at most this many decisions.
import type { Io } from '../io/io.js';
import type { WorkerAccount } from '../worker/account.js';

/** The burst after a pause, as part of a second. */
const BURST_S = 0.25;

export class Decisions {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #io: Pick<Io, 'now'>;
  #left: number;
  #filledAt: number;

  constructor(perSecond: number, io: Pick<Io, 'now'>) {
    this.#perMs = perSecond / 1000;
    this.#burst = Math.max(1, perSecond * BURST_S);
    this.#io = io;
    this.#left = this.#burst;
    this.#filledAt = io.now();
  }

  /** Whether another decision is allowed now; if not, drop the datagram. */
  tryAcquire(): boolean {
    const now = this.#io.now();
    if (now > this.#filledAt) {
      this.#left = Math.min(this.#burst, this.#left + (now - this.#filledAt) * this.#perMs);
      this.#filledAt = now;
    }
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** The decisions of one account, over all its associations. Those for its clients and for others are separate. */
export interface AccountDecisions {
  /** About datagrams of the account's clients. */
  readonly ofClients: Decisions;
  /** About datagrams of others. */
  readonly ofOthers: Decisions;
}

const byAccount = new WeakMap<WorkerAccount, AccountDecisions>();

export function decisionsOf(
  account: WorkerAccount,
  perSecond: number,
  io: Pick<Io, 'now'>,
): AccountDecisions {
  const decisions = byAccount.get(account) ?? {
    ofClients: new Decisions(perSecond, io),
    ofOthers: new Decisions(perSecond, io),
  };
  byAccount.set(account, decisions);
  return decisions;
}
