// Writes accounts in one transaction each, together with the usage that an import brings, and then updates the counts of usage, the
// directory (which notifies its listeners) and the heartbeat pool.
import type { Actor } from '../audit/audit.js';
import type { Clock } from '../clock.js';
import type { Account } from './account.js';
import type { AccountStore, IsCurrent, StoredUpdate } from './account-store.js';
import type { AccountUsage } from './account-usage.js';
import type { AccountDirectory } from './directory.js';
import { trafficOf } from './imported-traffic.js';
import type { CountedTraffic, TrafficOfDay } from './limits.js';

/** The usage that an import brings; ignored for an account with traffic on this server. */
export interface Imported {
  readonly used?: CountedTraffic | undefined;
}

/** An imported account with its usage on another server. */
export interface ImportedAccount extends Imported {
  readonly account: Account;
}

interface Update extends Imported, StoredUpdate {}

/** The part of the heartbeat pool that accounts need. */
export interface AccountPool {
  count(accountId: string): number;
  latestGameId(accountId: string): string | null;
  /** Forgets every entry of the account. */
  remove(accountId: string): void;
}

export interface AccountWriteDeps {
  readonly store: AccountStore;
  readonly directory: AccountDirectory;
  readonly usage: Pick<AccountUsage, 'afterWriting' | 'read' | 'countFrom' | 'countAnew' | 'hasUsed'>;
  readonly pool: AccountPool;
  readonly now: Clock;
}

/** Each call rejects, and changes nothing, when the database cannot be written. Call one at a time for an account. */
export interface AccountWrites {
  /** Returns the added accounts; the names of the others are taken. */
  add(entries: readonly ImportedAccount[], by?: Actor): Promise<Account[]>;
  /** Returns the accounts that exist, with the change. */
  update(updates: readonly Update[], by?: Actor): Promise<Account[]>;
  /** Starts the quota period of an account again; false when it does not exist. */
  resetUsage(id: string, by: Actor): Promise<boolean>;
  /** Removes an account with its heartbeats; returns it, or null when it does not exist. */
  remove(id: string, by?: Actor, isCurrent?: IsCurrent): Promise<Account | null>;
  /** Removes accounts; returns those that existed. */
  removeMany(ids: readonly string[], by: Actor): Promise<Account[]>;
  /** Reloads accounts that another process changed, added or removed; their usage follows a moment later. */
  refresh(ids: readonly string[]): Promise<void>;
}

export function createAccountWrites({ store, directory, usage, pool, now }: AccountWriteDeps): AccountWrites {
  function put(accounts: Account[]): Account[] {
    for (const account of accounts) directory.put(account);
    return accounts;
  }

  function forget(id: string): void {
    directory.remove(id);
    pool.remove(id);
  }

  /** The updates that change what counts as used: another quota period, or usage from an import. */
  function recountedBy(updates: readonly Update[]) {
    return updates.flatMap(({ id, fields, used }) => {
      const before = directory.byId(id);
      if (!before) return [];
      const limits = { ...before.limits, ...fields.limits };
      const isOtherPeriod = limits.quotaPeriod !== before.limits.quotaPeriod;
      if (!isOtherPeriod && !hasTraffic(used)) return [];
      return [{ id, limits, quotaReset: before.quotaReset, used }];
    });
  }

  return {
    async add(entries, by) {
      if (entries.length === 0) return [];
      const imported = entries.flatMap(({ account, used }) =>
        hasTraffic(used) ? [trafficOf(account, used, now())] : [],
      );
      const stored = new Map(imported.map(({ sums }) => [sums.accountId, sums]));
      const write = async (): Promise<Account[]> => {
        const accounts = entries.map(({ account }) => account);
        const days = imported.flatMap((each) => each.days);
        const addedIds = await store.addMany(accounts, by, days);
        const added = accounts.filter(({ id }) => addedIds.has(id));
        for (const account of added) if (stored.has(account.id)) usage.countFrom(account, stored);
        return put(added);
      };
      return imported.length === 0 ? write() : usage.afterWriting(write);
    },

    async update(updates, by) {
      if (updates.length === 0) return [];
      const recounted = recountedBy(updates);
      if (recounted.length === 0) return put(await store.updateMany(updates, by));
      return usage.afterWriting(async () => {
        const stored = new Map(await usage.read(recounted));
        const traffic: TrafficOfDay[] = [];
        for (const { used, ...account } of recounted) {
          if (!hasTraffic(used) || usage.hasUsed(account.id)) continue;
          const { days, sums } = trafficOf(account, used, now());
          traffic.push(...days);
          stored.set(account.id, sums);
        }
        const changed = await store.updateMany(updates, by, traffic);
        const ids = new Set(recounted.map(({ id }) => id));
        for (const account of changed) if (ids.has(account.id)) usage.countFrom(account, stored);
        return put(changed);
      });
    },

    resetUsage: (id, by) =>
      usage.afterWriting(async () => {
        const before = directory.byId(id);
        if (!before) return false;
        const stored = await usage.read([before]);
        const { bytesUp = 0, bytesDown = 0 } = stored.get(id) ?? {};
        const quotaReset = { at: now(), totalBytes: bytesUp + bytesDown };
        const [account] = await store.updateMany([{ id, fields: { quotaReset } }], by);
        if (!account) return false;
        usage.countFrom(account, stored);
        directory.put(account);
        return true;
      }),

    async remove(id, by, isCurrent) {
      const account = await store.remove(id, by, isCurrent);
      if (account) forget(id);
      return account;
    },

    async removeMany(ids, by) {
      const removed = await store.removeMany(ids, by);
      for (const { id } of removed) forget(id);
      return removed;
    },

    async refresh(ids) {
      const accounts = new Map((await store.getMany(ids)).map((account) => [account.id, account]));
      for (const id of ids) {
        const account = accounts.get(id);
        if (!account) {
          forget(id);
          continue;
        }
        // Reading the sums waits for writes of traffic. A closed account ends its sessions without that wait.
        usage.countAnew(account);
        directory.put(account);
      }
    },
  };
}

function hasTraffic(used: CountedTraffic | undefined): used is CountedTraffic {
  return used !== undefined && used.totalBytesUp + used.totalBytesDown > 0;
}
