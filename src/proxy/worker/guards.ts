// The guard of the accounts of one worker: which connections and datagrams to new destinations wait or are refused, and the
// report of it, at most one a minute for each account and limit.
import type { ClassGuard, GuardedUse, GuardReason, Held } from '../../core/accounts/usage/guard.js';
import { AccountGuard, guardOf } from '../../core/accounts/usage/guard.js';
import type { AccountLimits } from '../../core/accounts/usage/limits.js';
import { sourceOf } from '../../core/addresses/ip.js';
import { MINUTE_MS } from '../../core/time/clock.js';
import type { ResolveClient } from '../dns/messages.js';
import { fnv1a } from '../memory/hash.js';
import type { ClientRequest } from '../protocols/socks5.js';
import type { WorkerAccount } from './account.js';
import type { WorkerBase } from './base.js';

type RequestedDestination = Pick<ClientRequest, 'address' | 'port'>;

interface Report {
  slowed: number;
  refused: number;
  client: string;
  nextAt: number;
}

interface Guarded {
  readonly guard: AccountGuard;
  /** What applies to an account with the limits `own`. */
  limits: ClassGuard;
  own: AccountLimits;
  /** Refusals by limits, counted until a time. */
  refused: number;
  countsUntil: number;
  readonly reports: Map<GuardReason, Report>;
}

export class Guards {
  readonly #base: Pick<WorkerBase, 'io' | 'settings' | 'events'>;
  readonly #guarded = new Map<WorkerAccount, Guarded>();

  constructor(base: Pick<WorkerBase, 'io' | 'settings' | 'events'>) {
    this.#base = base;
  }

  /**
   * Counts a use of an account; one that would wait for longer than the configuration's `maxWait` (a datagram: at all) is refused.
   * @param client the client's address, for the report
   * @returns null: it may go on at once
   */
  admit(account: WorkerAccount, use: GuardedUse, to: RequestedDestination, client: string): Held | null {
    const now = this.#base.io.now();
    const maxWaitMs = use === 'datagram' ? 0 : this.#base.settings.guard.maxWaitMs;
    const guarded = this.#guardedOf(account);
    const held = guarded.guard.admit(use, hashOf(to), guarded.limits, now, maxWaitMs);
    if (held === null) return null;
    if (held.isRefused) this.refused(account, held.limit, client);
    else this.note(account, held.limit, false, client);
    return held;
  }

  /** Counts a refusal by a limit. Too many suspend the account. */
  refused(account: WorkerAccount, limit: GuardReason, client: string): void {
    const now = this.#base.io.now();
    const report = this.note(account, limit, true, client);
    if (this.#suspends(this.#guardedOf(account), now)) this.#report(account, limit, report, now, true);
  }

  #suspends(guarded: Guarded, now: number): boolean {
    const { after, withinMs } = this.#base.settings.guard.suspend;
    if (now >= guarded.countsUntil) Object.assign(guarded, { refused: 0, countsUntil: now + withinMs });
    guarded.refused += 1;
    if (guarded.refused !== after) return false;
    guarded.countsUntil = 0;
    return true;
  }

  /** Counts for the report what has been slowed or refused, also by other rules than limits. */
  note(account: WorkerAccount, reason: GuardReason, isRefused: boolean, client: string): Report {
    const { reports } = this.#guardedOf(account);
    const report = reports.get(reason) ?? { slowed: 0, refused: 0, client, nextAt: 0 };
    report[isRefused ? 'refused' : 'slowed'] += 1;
    report.client = client;
    reports.set(reason, report);
    return report;
  }

  #guardedOf(account: WorkerAccount): Guarded {
    const own = account.record.limits;
    let guarded = this.#guarded.get(account);
    if (guarded?.own === own) return guarded;
    const limits = this.#limitsOf(own);
    if (guarded) Object.assign(guarded, { own, limits });
    else {
      guarded = { guard: new AccountGuard(), own, limits, refused: 0, countsUntil: 0, reports: new Map() };
      this.#guarded.set(account, guarded);
    }
    return guarded;
  }

  #limitsOf(own: AccountLimits): ClassGuard {
    const { guard, egressClasses } = this.#base.settings;
    return guardOf(own, egressClasses[own.egressClass ?? '']?.guard ?? guard.limits);
  }

  /** On whose behalf names are looked up. Its limit is the account's at the time of a lookup. */
  lookupsOf(account: WorkerAccount, client: string): ResolveClient {
    const perMinute = () => this.#limitsOf(account.record.limits).lookupsPerMinute;
    return {
      accountId: account.record.id,
      source: sourceOf(client),
      get perMinute() {
        return perMinute();
      },
      onOverRate: () => this.refused(account, 'lookupsPerMinute', client),
    };
  }

  /** A connection to a destination failed because of the destination or the way to it. */
  failed(account: WorkerAccount, to: RequestedDestination): void {
    this.#guarded.get(account)?.guard.failed(hashOf(to), this.#base.io.now());
  }

  /** Reports, and frees the counts of idle accounts. Call it about once a second. */
  tick(): void {
    const now = this.#base.io.now();
    for (const [account, { guard, reports }] of this.#guarded) {
      for (const [limit, report] of reports) {
        if (now >= report.nextAt && report.slowed + report.refused > 0)
          this.#report(account, limit, report, now, false);
      }
      if (guard.isIdle(now)) this.#guarded.delete(account);
    }
  }

  #report(
    { record }: WorkerAccount,
    limit: GuardReason,
    report: Report,
    now: number,
    suspends: boolean,
  ): void {
    const { slowed, refused, client } = report;
    this.#base.events.push({ kind: 'guard', accountId: record.id, limit, slowed, refused, client, suspends });
    Object.assign(report, { slowed: 0, refused: 0, nextAt: now + MINUTE_MS });
  }
}

function hashOf({ address, port }: RequestedDestination): number {
  return Math.imul(fnv1a(address) ^ port, 0x9e3779b1);
}
