// The limits of every account: kept in memory beside what is used of them, asked by the listener, enforced on live
// sessions, changed by the operator. The counts are this process's own; several daemons would share them behind
// `SessionLimits`, which is all that the listener knows.

import type { Clock } from '../clock.js';
import type { EgressPolicy } from '../egress/egress.js';
import type { Actor } from '../operator/audit.js';
import type { LimitStore } from '../ports.js';
import type { SessionRegistry } from '../sessions/session.js';
import { clientAddresses, createLimitEnforcement, type LimitEnforcement } from './limit-enforcement.js';
import {
  type AccountLimits,
  countedSince,
  type KeptLimits,
  type LimitUsage,
  NOTHING_KEPT,
  periodEnd,
  type TrafficOfDay,
} from './limits.js';

import { createTrafficLedger, type UsedElsewhere } from './traffic-ledger.js';
import type { MeteredSession } from './usage.js';

/** What the listener asks. */
export interface SessionLimits extends Pick<LimitEnforcement, 'refusal' | 'rates'> {
  /** Name of its egress class; null: none. */
  egressClass(accountId: string): string | null;
  /** A session has begun to move bytes. */
  opened(session: MeteredSession): void;
  closed(session: MeteredSession): void;
  /** Counts traffic and ends the sessions of accounts whose quota is used up. Meant to be called about once a second. */
  enforce(): void;
}

export type ChangeLimitsResult =
  | { readonly ok: true; readonly limits: AccountLimits }
  | { readonly ok: false; readonly reason: 'not-found' | 'unknown-egress-class' };

export interface LimitsView {
  readonly limits: AccountLimits;
  readonly usage: LimitUsage;
}

export interface AccountLimitsService extends SessionLimits {
  /** Fills the memory at start. */
  load(): Promise<void>;
  /** Limits and usage of an account that exists. */
  view(accountId: string): LimitsView;
  /** The same as of the last second: for lists, where counting anew for each would be quadratic. */
  glance(accountId: string): LimitsView;
  /** Writes the limits given, leaves the others; live sessions are held to them at once. Rejects when the database cannot be written. */
  change(accountId: string, change: Partial<AccountLimits>, by: Actor): Promise<ChangeLimitsResult>;
  /**
   * The same for many in one transaction, each account once; keep a call to some hundreds. Returns the ids of those that
   * were changed: the others are gone, or would be of an egress class that there is not.
   */
  changeMany(
    changes: readonly { readonly accountId: string; readonly change: Partial<AccountLimits> }[],
    by: Actor,
  ): Promise<ReadonlySet<string>>;
  /** An account was stored with these limits at its creation. To be called before anything else is waited for. */
  adopt(accountId: string, limits: AccountLimits): void;
  /** Whether the configuration has the egress class; null, the rules for everybody, there always is. */
  hasEgressClass(name: string | null): boolean;
  /** Counts what accounts have used elsewhere, in one transaction; one that has used something here stays as it is. */
  takeIn(usages: readonly UsedElsewhere[]): Promise<void>;
  /** Starts the quota period again from nothing; false when there is no such account. */
  reset(accountId: string, by: Actor): Promise<boolean>;
  /** Takes over the limits of accounts as the database has them, after another process changed them. */
  refresh(accountIds: readonly string[]): Promise<void>;
  /** The account is gone. */
  forget(accountId: string): void;
  /** Traffic per day from `fromDay` (days since the epoch) on, days without any left out, oldest first. */
  traffic(accountId: string, fromDay: number): Promise<TrafficOfDay[]>;
  /** Writes what was counted. Rejects with the database's error when it cannot; nothing is lost then. */
  flush(): Promise<void>;
}

export interface AccountLimitsOptions {
  readonly store: LimitStore;
  readonly sessions: SessionRegistry;
  /** The policy of an egress class; undefined when the configuration has no such class, which then permits nothing. */
  readonly egressOf: (egressClass: string | null) => EgressPolicy | undefined;
  readonly now: Clock;
  /** A clock that is never set back, in ms. */
  readonly monotonicNow: Clock;
}

export function createAccountLimits(options: AccountLimitsOptions): AccountLimitsService {
  const { store, sessions, egressOf, now, monotonicNow } = options;
  const kept = new Map<string, KeptLimits>();
  const keptOf = (accountId: string): KeptLimits => kept.get(accountId) ?? NOTHING_KEPT;
  const ledger = createTrafficLedger({ store, keptOf, now });
  const enforcement = createLimitEnforcement({
    kept,
    periodBytes: (accountId) => ledger.used(accountId).periodBytes,
    sessions,
    egressOf,
    monotonicNow,
  });

  function keep(accountId: string, stored: KeptLimits | null): void {
    if (stored) kept.set(accountId, stored);
    else kept.delete(accountId);
  }

  const hasEgressClass = (name: string | null): boolean => name === null || egressOf(name) !== undefined;

  const changeMany: AccountLimitsService['changeMany'] = (changes, by) =>
    ledger.afterWriting(async () => {
      const entries = changes.flatMap(({ accountId, change }) => {
        const before = keptOf(accountId);
        const limits = { ...before.limits, ...change };
        if (!hasEgressClass(limits.egressClass)) return [];
        return [{ accountId, before, kept: { limits, reset: before.reset } }];
      });
      const saved = await store.saveMany(entries, by);
      const changed = entries.filter(({ accountId }) => saved.has(accountId));
      for (const { accountId, kept: now } of changed) keep(accountId, now);
      await ledger.recount(
        changed
          .filter((each) => each.kept.limits.quotaPeriod !== each.before.limits.quotaPeriod)
          .map(({ accountId }) => accountId),
      );
      for (const { accountId, before } of changed) enforcement.apply(accountId, before.limits);
      return saved;
    });

  function glance(accountId: string): LimitsView {
    const at = now();
    const { limits, reset } = keptOf(accountId);
    const live = sessions.ofAccount(accountId);
    const used = ledger.used(accountId);
    const usage = {
      sessions: live.length,
      clientAddresses: clientAddresses(live).size,
      periodBytes: used.periodBytes,
      periodStartedAt: countedSince(limits.quotaPeriod, reset?.at ?? null, at),
      periodEndsAt: periodEnd(limits.quotaPeriod, at),
      totalBytesUp: used.totalBytesUp,
      totalBytesDown: used.totalBytesDown,
    };
    return { limits, usage };
  }

  return {
    refusal: enforcement.refusal,
    rates: enforcement.rates,
    egressClass: (accountId) => keptOf(accountId).limits.egressClass,
    opened: ledger.opened,
    closed: ledger.closed,

    enforce() {
      ledger.collect();
      enforcement.endOverQuota();
    },

    async load() {
      for (const { accountId, ...stored } of await store.all()) {
        keep(accountId, stored);
        enforcement.setRates(accountId, stored.limits);
      }
      await ledger.load(kept);
    },

    view(accountId) {
      ledger.collect();
      return glance(accountId);
    },
    glance,
    hasEgressClass,

    async change(accountId, change, by) {
      const isChanged = (await changeMany([{ accountId, change }], by)).has(accountId);
      const { limits } = keptOf(accountId);
      if (isChanged) return { ok: true, limits };
      const hasClass = hasEgressClass({ ...limits, ...change }.egressClass);
      return { ok: false, reason: hasClass ? 'not-found' : 'unknown-egress-class' };
    },
    changeMany,

    adopt(accountId, limits) {
      keep(accountId, { limits, reset: null });
      ledger.begin(accountId);
      enforcement.setRates(accountId, limits);
    },

    takeIn: (usages) => ledger.afterWriting(() => ledger.takeIn(usages)),

    reset: (accountId, by) =>
      ledger.afterWriting(async () => {
        const before = keptOf(accountId);
        const { limits } = before;
        const { totalBytesUp, totalBytesDown } = ledger.used(accountId);
        const reset = { at: now(), totalBytes: totalBytesUp + totalBytesDown };
        const kept = { limits, reset };
        if ((await store.saveMany([{ accountId, kept, before }], by)).size === 0) return false;
        keep(accountId, kept);
        await ledger.recount([accountId]);
        return true;
      }),

    refresh: (accountIds) =>
      ledger.afterWriting(async () => {
        const stored = await store.getMany(accountIds);
        const before = accountIds.map((id) => ({ id, limits: keptOf(id).limits }));
        for (const id of accountIds) keep(id, stored.get(id) ?? null);
        await ledger.recount(accountIds);
        for (const { id, limits } of before) enforcement.apply(id, limits);
      }),

    forget(accountId) {
      kept.delete(accountId);
      enforcement.forget(accountId);
      ledger.forget(accountId);
    },

    traffic: (accountId, fromDay) => ledger.afterWriting(() => store.traffic(accountId, fromDay)),
    flush: ledger.flush,
  };
}
