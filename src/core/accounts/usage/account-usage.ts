// The usage of every account: counts traffic in memory, writes it to the database, reloads the sums when the quota period changes,
// and compares the usage with the quota.
import type { Session } from '../../sessions/session.js';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { Clock } from '../../time/clock.js';
import { createTurns } from '../../time/turns.js';
import type { Account } from '../account.js';
import type { AccountDirectory } from '../directory.js';
import type { Calendar } from './calendar.js';
import type { DatabaseSnapshot, LimitUsage, TrafficOfDay, TrafficSums } from './limits.js';
import { NO_LIMITS } from './limits.js';
import type { AccountActivity, Counting, StoredTraffic, TrafficStore } from './traffic-store.js';
import { periodBytesOf, readTraffic } from './traffic-store.js';
import { TrafficMeter } from './usage.js';

/** `flush` counts the sessions, but not again within this time: several timers call it. In ms. */
const COUNT_MS = 400;
/** Maximum number of accounts whose sums one statement reads. */
const MAX_ACCOUNTS_PER_READ = 500;

const NO_TRAFFIC = { bytesUp: 0, bytesDown: 0, snapshot: undefined };

type TrafficElsewhere = Extract<AccountActivity, { readonly kind: 'traffic' }>;

export type AccountUsage = ReturnType<typeof createAccountUsage>;

export function createAccountUsage(deps: {
  readonly store: TrafficStore;
  readonly directory: AccountDirectory;
  readonly sessions: SessionRegistry;
  readonly calendar: Calendar;
  /** Most GameIDs of an account that a day counts separately. */
  readonly maxGames: number;
  readonly now: Clock;
}) {
  const { store, directory, sessions, calendar, maxGames, now } = deps;
  const meter = new TrafficMeter(
    (id) => directory.byId(id)?.limits.quotaPeriod ?? NO_LIMITS.quotaPeriod,
    calendar,
    maxGames,
  );
  // Read sums only between writes: traffic of a running write is in neither the sum nor the waiting rows.
  const inTurn = createTurns();
  /** Traffic that is being written, or whose write has failed. */
  let batch: readonly TrafficOfDay[] = [];
  let batchNumber = 0;
  /** Accounts whose listeners were last notified that the quota is used up. */
  const overQuota = new Set<string>();
  /** Accounts whose sums must be read again. */
  const outdated = new Set<string>();
  /** Those of them whose counted traffic does not decide about the quota until then. */
  const undecided = new Set<string>();
  let isReadScheduled = false;
  let countedAt = Number.NEGATIVE_INFINITY;
  /** The snapshot of which an account's sums were read, by account id; kept until all earlier traffic of other nodes has arrived. */
  const snapshots = new Map<string, DatabaseSnapshot>();

  const addSession = ({ accountId }: Session): void => meter.addSession(accountId, now());
  sessions.subscribe({
    opened: addSession,
    passed: addSession,
    traffic(session, bytesUp, bytesDown) {
      const { accountId } = session;
      // Drop traffic of an account that was removed.
      if (directory.byId(accountId)) meter.addTraffic(accountId, bytesUp, bytesDown, now(), session);
    },
    counted: () => publishQuotaChanges(sessions.accounts()),
  });

  directory.onChanged(({ id, after }) => {
    if (after) return noteQuotaState(after);
    overQuota.delete(id);
    outdated.delete(id);
    undecided.delete(id);
    snapshots.delete(id);
    meter.forget(id);
  });

  function noteQuotaState(account: Account): void {
    if (isOverQuota(account)) overQuota.add(account.id);
    else overQuota.delete(account.id);
  }

  /** Notifies listeners of accounts whose quota is used up or has been reset. */
  function publishQuotaChanges(ids: Iterable<string>): void {
    meter.tick(now());
    for (const id of new Set([...ids, ...overQuota])) {
      const account = directory.byId(id);
      if (account && isOverQuota(account) !== overQuota.has(id)) directory.usageChanged(account);
    }
  }

  function quotaLeft({ id, limits }: Account): number | null {
    if (undecided.has(id)) return overQuota.has(id) ? 0 : null;
    return limits.quotaBytes === null ? null : limits.quotaBytes - meter.used(id, now()).periodBytes;
  }

  function isOverQuota(account: Account): boolean {
    const left = quotaLeft(account);
    return left !== null && left <= 0;
  }

  function countFrom({ id, limits, quotaReset }: Counting, stored: StoredTraffic): void {
    const at = now();
    const { bytesUp, bytesDown, snapshot } = stored.get(id) ?? NO_TRAFFIC;
    if (snapshot) snapshots.set(id, snapshot);
    undecided.delete(id);
    const periodBytes = periodBytesOf({ limits, quotaReset }, stored.get(id), { now: at, calendar });
    const counted = { totalBytesUp: bytesUp, totalBytesDown: bytesDown, periodBytes };
    meter.load(id, limits.quotaPeriod, counted, at);
  }

  const read = (accounts: readonly Counting[]): Promise<StoredTraffic> =>
    readTraffic(store.sums, accounts, { now: now(), calendar });

  /** Retries a failed batch with the same number: the database may have written it although its answer was lost. */
  async function write(): Promise<void> {
    meter.tick(now());
    await writeBatch();
    batch = meter.take();
    batchNumber += 1;
    await writeBatch();
  }

  /** A crash loses what was not counted when traffic was last written. */
  function countForWrite(): void {
    const at = now();
    if (Math.abs(at - countedAt) < COUNT_MS) return;
    countedAt = at;
    sessions.count();
  }

  async function writeBatch(): Promise<void> {
    if (batch.length > 0) await store.add(batch, batchNumber, maxGames);
    batch = [];
  }

  /**
   * Writes traffic, and reads the sums of accounts that another process changed, or whose sums are unknown because the clock was
   * set back to a period before the start.
   */
  async function writeAndRead(): Promise<void> {
    await write();
    const ids = [...new Set([...outdated, ...meter.unknown()])].slice(0, MAX_ACCOUNTS_PER_READ);
    if (ids.length === 0) return;
    for (const id of ids) outdated.delete(id);
    const accounts = ids.flatMap((id) => directory.byId(id) ?? []);
    const stored = await read(accounts).catch((error: unknown) => {
      for (const id of ids) outdated.add(id);
      throw error;
    });
    for (const { id } of accounts) {
      const account = directory.byId(id);
      // If it has changed again meanwhile, these sums belong to another period or reset.
      if (account && !outdated.has(id)) countFrom(account, stored);
    }
    publishQuotaChanges(ids);
    // Whoever counts down what is left must know, also where it is not used up.
    for (const { id } of accounts) {
      const account = directory.byId(id);
      if (account && account.limits.quotaBytes !== null) directory.usageChanged(account);
    }
    if (outdated.size > 0) writeAndReadSoon();
  }

  /** After a failure the next `flush` tries again and reports it. */
  function writeAndReadSoon(): void {
    if (isReadScheduled) return;
    isReadScheduled = true;
    void inTurn('traffic', () => {
      isReadScheduled = false;
      return writeAndRead();
    }).catch(() => undefined);
  }

  const afterWriting = <T>(work: () => Promise<T>): Promise<T> =>
    inTurn('traffic', async () => {
      sessions.count();
      await writeAndRead();
      return work();
    });

  function lastView({ id, limits, quotaReset }: Account): LimitUsage {
    const at = now();
    const live = sessions.ofAccount(id);
    const elsewhere = sessions.elsewhere.of(id);
    const addresses = new Set(live.map(({ client }) => client.address));
    for (const address of elsewhere?.clientAddresses ?? []) addresses.add(address);
    const used = meter.used(id, at);
    return {
      sessions: live.length + (elsewhere?.sessions ?? 0),
      clientAddresses: addresses.size,
      periodBytes: used.periodBytes,
      periodStartedAt: calendar.countedSince(limits.quotaPeriod, quotaReset?.at ?? null, at),
      periodEndsAt: calendar.periodEnd(limits.quotaPeriod, at),
      totalBytesUp: used.totalBytesUp,
      totalBytesDown: used.totalBytesDown,
    };
  }

  return {
    /** Whether the quota is used up, as of the last count. */
    isOverQuota,
    /** Bytes that are left of the quota, as of the last count; null: no quota. */
    quotaLeft,
    /** The usage as of the last second, for lists: `view` counts all sessions, so that calling it per account would be quadratic. */
    lastView,

    /** The current usage of an account, including live sessions. */
    view(account: Account): LimitUsage {
      sessions.count();
      return lastView(account);
    },

    /** Whether an account has any traffic, on this or another server. */
    hasUsed(accountId: string): boolean {
      const { totalBytesUp, totalBytesDown } = meter.used(accountId, now());
      return totalBytesUp + totalBytesDown > 0;
    },

    /**
     * Counts traffic of accounts on other nodes towards their quotas.
     * @param upTo every transaction before this one has been read
     */
    addElsewhere(traffic: readonly TrafficElsewhere[], upTo: bigint): void {
      const at = now();
      for (const { accountId, transaction, day, bytesUp, bytesDown } of traffic) {
        if (!directory.byId(accountId) || snapshots.get(accountId)?.includes(transaction)) continue;
        meter.addElsewhere(accountId, { day, bytesUp, bytesDown }, at);
      }
      for (const [id, snapshot] of snapshots) if (snapshot.isBefore(upTo)) snapshots.delete(id);
      publishQuotaChanges(traffic.map(({ accountId }) => accountId));
    },

    /** Traffic per day since `fromDay`, oldest first; omits days without traffic. */
    days: (accountId: string, fromDay: number): Promise<TrafficOfDay[]> =>
      afterWriting(() => store.days(accountId, fromDay)),

    /** Loads the usage at the start, after the directory is loaded. Rejects when the database cannot be read. */
    async load(): Promise<void> {
      const at = now();
      const periods = new Set(Array.from(directory.all(), ({ limits }) => limits.quotaPeriod));
      for (const period of periods) {
        const stored = new Map<string, TrafficSums>();
        for (const sums of await store.sums(calendar.firstDay(period, at))) stored.set(sums.accountId, sums);
        for (const id of stored.keys()) {
          const account = directory.byId(id);
          if (account?.limits.quotaPeriod === period) countFrom(account, stored);
        }
      }
      for (const account of directory.all()) noteQuotaState(account);
    },

    /** Counts and writes the traffic of all sessions. Rejects with the error of the database and keeps the traffic on failure. */
    flush: (): Promise<void> =>
      inTurn('traffic', () => {
        countForWrite();
        return writeAndRead();
      }),
    /**
     * For changes of the counted period: runs `work` between writes of traffic, so that the database contains all traffic counted so
     * far.
     */
    afterWriting,
    /** Reads traffic sums for the given periods. Call it within `afterWriting`. */
    read,
    /** Writes the counted traffic, and reads the sums. */
    readNow: (accounts: readonly Counting[]): Promise<StoredTraffic> => afterWriting(() => read(accounts)),

    /**
     * The account was added or changed: reads its sums again soon, and waits for nothing. Call it before the directory gets the
     * account. If its period or reset is another one, `isOverQuota` keeps its result until the sums are read.
     */
    countAnew(account: Counting): void {
      const before = directory.byId(account.id);
      const isCountedAlike =
        before?.limits.quotaPeriod === account.limits.quotaPeriod &&
        before.quotaReset?.at === account.quotaReset?.at;
      if (!isCountedAlike) undecided.add(account.id);
      outdated.add(account.id);
      writeAndReadSoon();
    },

    /** Resolves when the sums that `countAnew` announced are read, or could not be read: the next `flush` tries again then. */
    counted: (): Promise<void> => inTurn('traffic', async () => {}),
  };
}
