// How many datagrams a second an account may have decided on: new destinations, unknown senders, fragments.
// What is settled (routes, sources, destinations that are still fresh) needs no decision and is not bounded by this.
// So whoever floods the sockets of an account, or of many associations of it, costs no more than this many decisions.
import type { Account } from '../account.js';
import type { Io } from '../io/io.js';

/** What may be decided on at once after a pause, as part of a second. */
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

  /** Whether one more datagram may be decided on now; one that may not is dropped. */
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

/** The decisions of one account, over all its associations. Whoever floods it from outside takes none of its own. */
export interface AccountDecisions {
  /** About what the account's clients send. */
  readonly ofClients: Decisions;
  /** About what comes from anyone else. */
  readonly ofOthers: Decisions;
}

const byAccount = new WeakMap<Account, AccountDecisions>();

export function decisionsOf(account: Account, perSecond: number, io: Pick<Io, 'now'>): AccountDecisions {
  const decisions = byAccount.get(account) ?? {
    ofClients: new Decisions(perSecond, io),
    ofOthers: new Decisions(perSecond, io),
  };
  byAccount.set(account, decisions);
  return decisions;
}
