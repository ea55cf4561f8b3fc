// Writes accounts in one transaction each, together with the usage that an import brings, and then updates the counts of usage, the
// directory (which notifies its listeners) and the heartbeat pool.
import type { Actor } from '../audit/audit.js';
import type { RefusalOf } from '../settings/setting.js';
import type { Clock } from '../time/clock.js';
import type { Account } from './account.js';
import type { AccountStore, StoredChange } from './account-store.js';
import type { AccountDirectory } from './directory.js';
import type { AccountUsage } from './usage/account-usage.js';
import type { Calendar } from './usage/calendar.js';
import type { CountedTraffic, TrafficOfDay } from './usage/limits.js';

/** The usage that an import brings; ignored for an account with traffic on this server. */
export interface Imported {
  readonly used?: CountedTraffic | undefined;
}

/** An imported account with its usage on another server. */
interface ImportedAccount extends Imported {
  readonly account: Account;
}

interface Change extends Imported, Pick<StoredChange, 'id' | 'after'> {}

export interface AccountPool {
  count(accountId: string): number;
  latestGameId(accountId: string): string | null;
  remove(accountId: string): void;
}

export interface AccountWriteDeps {
  readonly store: AccountStore;
  readonly directory: AccountDirectory;
  readonly usage: Pick<AccountUsage, 'afterWriting' | 'read' | 'countAnew' | 'counted' | 'hasUsed'>;
  readonly pool: AccountPool;
  readonly calendar: Calendar;
  readonly now: Clock;
}

/** Each call rejects, and changes nothing, when the database cannot be written. Call one at a time for an account. */
export function createAccountWrites(deps: AccountWriteDeps) {
  const { store, directory, usage, pool, calendar, now } = deps;
  /** Puts stored accounts into the directory. Resolves when the usage of those that `isCounted` selects is counted. */
  async function put(
    accounts: readonly Account[],
    isCounted: (account: Account) => boolean,
  ): Promise<readonly Account[]> {
    const counted = accounts.filter(isCounted);
    for (const account of counted) usage.countAnew(account);
    for (const account of accounts) directory.put(account);
    if (counted.length > 0) await usage.counted();
    return accounts;
  }

  function forget(id: string): void {
    directory.remove(id);
    pool.remove(id);
  }

  /** Whether the quota of a stored account counts other traffic than that of the account in memory. */
  function isCountedOtherwise({ id, limits, quotaReset }: Account): boolean {
    const before = directory.byId(id);
    return limits.quotaPeriod !== before?.limits.quotaPeriod || quotaReset?.at !== before.quotaReset?.at;
  }

  return {
    /** Returns the added accounts; the names of the others are taken. */
    async add(entries: readonly ImportedAccount[], by?: Actor): Promise<readonly Account[]> {
      if (entries.length === 0) return [];
      const accounts = entries.map(({ account }) => account);
      const traffic = entries.flatMap(({ account, used }) => trafficOf(account, used, now(), calendar));
      const imported = new Set(traffic.map(({ accountId }) => accountId));
      const addedIds = await store.addMany(accounts, by, traffic);
      return put(
        accounts.filter(({ id }) => addedIds.has(id)),
        ({ id }) => imported.has(id),
      );
    },

    /** Returns the changed accounts. `after` gets the stored account with its newest login. */
    async change(changes: readonly Change[], by?: Actor): Promise<readonly Account[]> {
      if (changes.length === 0) return [];
      const imported = new Set<string>();
      const write = (): Promise<Account[]> =>
        store.changeMany(
          changes.map(({ id, after, used }) => ({
            id,
            after: (stored) => after(directory.withNewestLogin(stored)),
            trafficOf(changed) {
              const traffic = usage.hasUsed(id) ? [] : trafficOf(changed, used, now(), calendar);
              if (traffic.length > 0) imported.add(id);
              return traffic;
            },
          })),
          by,
        );
      // A seller's budget is charged by what is used.
      const needsUsage = by?.operatorId !== undefined || changes.some(({ used }) => used);
      const changed = await (needsUsage ? usage.afterWriting(write) : write());
      return put(changed, (account) => imported.has(account.id) || isCountedOtherwise(account));
    },

    /** Starts the quota periods of accounts again, in one transaction; returns those that exist. */
    async resetUsage(ids: readonly string[], by: Actor): Promise<readonly Account[]> {
      const changed = await usage.afterWriting(async () => {
        const present = ids.flatMap((id) => directory.byId(id) ?? []);
        const used = await usage.read(present);
        const changes = present.map(({ id }) => {
          const { bytesUp = 0, bytesDown = 0 } = used.get(id) ?? {};
          const quotaReset = { at: now(), totalBytes: bytesUp + bytesDown };
          return { id, after: (stored: Account) => ({ ...stored, quotaReset }) };
        });
        return changes.length === 0 ? [] : store.changeMany(changes, by);
      });
      return put(changed, isCountedOtherwise);
    },

    /** Removes accounts with their heartbeats; returns those that existed, or what `refusalOf` returns for one. */
    async removeMany<Refusal extends string = never>(
      ids: readonly string[],
      by: Actor | undefined,
      refusalOf?: RefusalOf<Account, Refusal>,
    ): Promise<Account[] | Refusal> {
      const removed = await store.removeMany(ids, by, refusalOf);
      if (typeof removed !== 'string') for (const { id } of removed) forget(id);
      return removed;
    },

    /** Reloads accounts that another process changed, added or removed; their usage follows a moment later. */
    async refresh(ids: readonly string[]): Promise<void> {
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

/**
 * Converts the usage of another server into traffic per day: the usage of the period counts as today's traffic, the rest as traffic
 * of the day before the period.
 */
export function trafficOf(
  { id: accountId, limits }: Pick<Account, 'id' | 'limits'>,
  used: CountedTraffic | undefined,
  at: number,
  calendar: Calendar,
): readonly TrafficOfDay[] {
  if (!used) return [];
  const { totalBytesUp, totalBytesDown, periodBytes } = used;
  const total = totalBytesUp + totalBytesDown;
  if (total === 0) return [];
  const ofPeriod = Math.min(periodBytes, total);
  const periodUp = Math.min(ofPeriod, totalBytesUp);
  const periodDown = ofPeriod - periodUp;
  const today = calendar.dayOf(at);
  const first = calendar.firstDay(limits.quotaPeriod, at) ?? today;
  const bytesUp = totalBytesUp - periodUp;
  const bytesDown = totalBytesDown - periodDown;
  return [
    { accountId, day: today, bytesUp: periodUp, bytesDown: periodDown, sessions: 0 },
    { accountId, day: calendar.dayOf(calendar.startOfDay(first) - 1), bytesUp, bytesDown, sessions: 0 },
  ];
}
