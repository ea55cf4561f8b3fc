// The guard of the accounts of one worker: which connections and datagrams to new destinations wait or are refused, and the
// report of it, at most one a second for each account and limit.
import {
  AccountGuard,
  type GuardedUse,
  type GuardLimit,
  type GuardLimits,
} from '../../core/accounts/usage/guard.js';
import { fnv1a } from '../memory/hash.js';
import type { GuardEvent } from '../messages.js';
import type { ProxySettings } from '../plane-settings.js';
import type { WorkerAccount } from './account.js';

/** How often accounts that no longer use anything are looked for, in ms. */
const LOOK_MS = 10_000;

/** A destination in a client's request, as raw bytes. */
export interface RequestedDestination {
  readonly address: Uint8Array;
  readonly port: number;
}

interface Guarded {
  readonly guard: AccountGuard;
  readonly reports: Map<GuardLimit, { slowed: number; refused: number; client: string }>;
}

/** A use that waits for `waitMs`, or is refused and would be allowed after that time. */
export interface Held {
  readonly waitMs: number;
  readonly isRefused: boolean;
}

export interface GuardsOptions {
  readonly settings: Pick<ProxySettings, 'guard' | 'egressClasses'>;
  readonly report: (event: GuardEvent) => void;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

export class Guards {
  readonly #options: GuardsOptions;
  readonly #guarded = new Map<WorkerAccount, Guarded>();
  /** Those with reports. */
  readonly #reporting = new Set<WorkerAccount>();
  #lookedAt = 0;

  constructor(options: GuardsOptions) {
    this.#options = options;
  }

  /**
   * Counts a use of an account; one that would wait for longer than the configuration's `maxWait` (a datagram: at all) is refused.
   * @param client the client's address, for the report
   * @returns null: it may go on at once
   */
  admit(account: WorkerAccount, use: GuardedUse, to: RequestedDestination, client: string): Held | null {
    const now = this.#options.now();
    const maxWaitMs = use === 'datagram' ? 0 : this.#options.settings.guard.maxWaitMs;
    const guarded = this.#of(account);
    const { limit, waitMs } = guarded.guard.admit(use, hashOf(to), this.#limitsOf(account), now, maxWaitMs);
    if (limit === null) return null;
    const isRefused = waitMs > maxWaitMs;
    const report = guarded.reports.get(limit) ?? { slowed: 0, refused: 0, client };
    report[isRefused ? 'refused' : 'slowed'] += 1;
    guarded.reports.set(limit, report);
    this.#reporting.add(account);
    return { waitMs, isRefused };
  }

  /** A connection to a destination failed because of the destination or the way to it. */
  failed(account: WorkerAccount, to: RequestedDestination): void {
    this.#guarded.get(account)?.guard.failed(hashOf(to), this.#options.now());
  }

  /** Reports, and frees the counts of idle accounts. Call it about once a second. */
  tick(): void {
    for (const account of this.#reporting) {
      const { reports } = this.#of(account);
      for (const [limit, counts] of reports)
        this.#options.report({ kind: 'guard', accountId: account.record.id, limit, ...counts });
      reports.clear();
    }
    this.#reporting.clear();
    const now = this.#options.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    for (const [account, { guard }] of this.#guarded) if (guard.isIdle(now)) this.#guarded.delete(account);
  }

  #of(account: WorkerAccount): Guarded {
    const guarded = this.#guarded.get(account) ?? { guard: new AccountGuard(), reports: new Map() };
    this.#guarded.set(account, guarded);
    return guarded;
  }

  #limitsOf({ record: { limits } }: WorkerAccount): GuardLimits {
    const { guard, egressClasses } = this.#options.settings;
    return (limits.egressClass !== null && egressClasses[limits.egressClass]?.guard) || guard.limits;
  }
}

function hashOf({ address, port }: RequestedDestination): number {
  return Math.imul(fnv1a(address) ^ port, 0x9e3779b1);
}
