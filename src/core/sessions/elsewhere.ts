// The sessions of accounts on the other nodes, as of the last one or two seconds, in memory, so that counts need no query.
import type { AccountElsewhere } from './live-session-store.js';

export class SessionsElsewhere {
  #byAccount: ReadonlyMap<string, AccountElsewhere> = new Map();
  #size = 0;
  #rate = { up: 0, down: 0 };

  /** Replaces all values. Returns the ids of the accounts whose number of sessions, nodes or whose addresses have changed. */
  set(accounts: readonly AccountElsewhere[]): string[] {
    const before = this.#byAccount;
    this.#byAccount = new Map(accounts.map((each) => [each.accountId, each]));
    this.#size = 0;
    this.#rate = { up: 0, down: 0 };
    for (const { sessions, rateUp, rateDown } of accounts) {
      this.#size += sessions;
      this.#rate.up += rateUp;
      this.#rate.down += rateDown;
    }
    const ended = [...before.keys()].filter((id) => !this.#byAccount.has(id));
    const changed = accounts.filter((each) => !isSame(each, before.get(each.accountId)));
    return [...ended, ...changed.map(({ accountId }) => accountId)];
  }

  /** Sessions of all accounts. */
  get size(): number {
    return this.#size;
  }

  /** Bytes per second of all accounts. */
  get rate(): { readonly up: number; readonly down: number } {
    return this.#rate;
  }

  of(accountId: string): AccountElsewhere | undefined {
    return this.#byAccount.get(accountId);
  }

  all(): IterableIterator<AccountElsewhere> {
    return this.#byAccount.values();
  }
}

function isSame(one: AccountElsewhere, other: AccountElsewhere | undefined): boolean {
  return (
    one.sessions === other?.sessions &&
    one.nodes === other.nodes &&
    one.clientAddresses.join() === other.clientAddresses.join()
  );
}
