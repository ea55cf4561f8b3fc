// The limits of every account: kept in memory beside what is used of them, changed by the operator, and published to the
// workers, which hold sessions to them. Quotas are counted here, from what all sessions of an account have moved.

import type { Actor } from '../audit/audit.js';
import type { Clock } from '../clock.js';
import type { SessionRegistry } from '../sessions/session.js';
import type { LimitStore } from './limit-store.js';
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

/** What holds for an account now. */
export interface LimitState {
  readonly limits: AccountLimits;
  readonly isOverQuota: boolean;
}

export type ChangeLimitsResult =
  | { readonly ok: true; readonly limits: AccountLimits }
  | { readonly ok: false; readonly reason: 'not-found' | 'unknown-egress-class' };

export interface LimitsView {
  readonly limits: AccountLimits;
  readonly usage: LimitUsage;
}

export interface AccountLimitsService {
  /** What the workers are told of an account. */
  state(accountId: string): LimitState;
  /** Called when what holds for an account has changed, before whoever changed it is answered. */
  onChanged(listener: (accountId: string) => void): void;
  /** A session has begun to move bytes. */
  opened(session: MeteredSession): void;
  closed(session: MeteredSession): void;
  /** Counts traffic and publishes which quotas are used up, or begin again. Meant to be called about once a second. */
  enforce(): void;
  /** Fills the memory at start. */
  load(): Promise<void>;
  /** Limits and usage of an account that exists. */
  view(accountId: string): LimitsView;
  /** The same as of the last second: for lists, where counting anew for each would be quadratic. */
  glance(accountId: string): LimitsView;
  /** Writes the limits given, leaves the others; live sessions are held to them within a moment. Rejects when the database cannot be written. */
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
  /** Names of the egress classes that the configuration has. */
  readonly egressClasses: readonly string[];
  readonly now: Clock;
}

export function createAccountLimits(options: AccountLimitsOptions): AccountLimitsService {
  const { store, sessions, now } = options;
  const kept = new Map<string, KeptLimits>();
  const keptOf = (accountId: string): KeptLimits => kept.get(accountId) ?? NOTHING_KEPT;
  const ledger = createTrafficLedger({ store, keptOf, now });
  const listeners: ((accountId: string) => void)[] = [];
  /** Accounts whose quota was used up when they were last looked at. */
  const overQuota = new Set<string>();

  function publish(accountId: string): void {
    for (const listener of listeners) listener(accountId);
  }

  function state(accountId: string): LimitState {
    const { limits } = keptOf(accountId);
    const isOverQuota = limits.quotaBytes !== null && ledger.used(accountId).periodBytes >= limits.quotaBytes;
    if (isOverQuota) overQuota.add(accountId);
    else overQuota.delete(accountId);
    return { limits, isOverQuota };
  }

  /** Publishes an account whose quota has been used up, or has begun again, since it was last looked at. */
  function lookAtQuota(accountId: string): void {
    const was = overQuota.has(accountId);
    if (was || keptOf(accountId).limits.quotaBytes !== null) {
      if (state(accountId).isOverQuota !== was) publish(accountId);
    }
  }

  function keep(accountId: string, stored: KeptLimits | null): void {
    if (stored) kept.set(accountId, stored);
    else kept.delete(accountId);
  }

  const hasEgressClass = (name: string | null): boolean =>
    name === null || options.egressClasses.includes(name);

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
      for (const { accountId } of changed) publish(accountId);
      return saved;
    });

  function glance(accountId: string): LimitsView {
    const at = now();
    const { limits, reset } = keptOf(accountId);
    const live = sessions.ofAccount(accountId);
    const used = ledger.used(accountId);
    const usage = {
      sessions: live.length,
      clientAddresses: new Set(live.map(({ client }) => client.address)).size,
      periodBytes: used.periodBytes,
      periodStartedAt: countedSince(limits.quotaPeriod, reset?.at ?? null, at),
      periodEndsAt: periodEnd(limits.quotaPeriod, at),
      totalBytesUp: used.totalBytesUp,
      totalBytesDown: used.totalBytesDown,
    };
    return { limits, usage };
  }

  return {
    state,
    onChanged: (listener) => void listeners.push(listener),
    opened: ledger.opened,
    closed: ledger.closed,

    enforce() {
      ledger.collect();
      for (const accountId of new Set([...sessions.accounts(), ...overQuota])) lookAtQuota(accountId);
    },

    async load() {
      for (const { accountId, ...stored } of await store.all()) keep(accountId, stored);
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
      publish(accountId);
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
        publish(accountId);
        return true;
      }),

    refresh: (accountIds) =>
      ledger.afterWriting(async () => {
        const stored = await store.getMany(accountIds);
        for (const id of accountIds) keep(id, stored.get(id) ?? null);
        await ledger.recount(accountIds);
        for (const id of accountIds) publish(id);
      }),

    forget(accountId) {
      kept.delete(accountId);
      overQuota.delete(accountId);
      ledger.forget(accountId);
    },

    traffic: (accountId, fromDay) => ledger.afterWriting(() => store.traffic(accountId, fromDay)),
    flush: ledger.flush,
  };
}
