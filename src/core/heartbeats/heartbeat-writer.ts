// Writes heartbeat entries, login times and the records of sessions to the database in batches, and deletes old entries.
import type { AccountStore } from '../accounts/account-store.js';
import type { AccountDirectory } from '../accounts/directory.js';
import { isCommitUnknown } from '../errors.js';
import type { Log } from '../log.js';
import type { Clock } from '../time/clock.js';
import { createPoller, type Timer, type Timers } from '../time/timers.js';
import { createTurns } from '../time/turns.js';
import type { Heartbeat, HeartbeatRetention, HeartbeatStore, HeartbeatTotals } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';

/** Entries in one transaction: large enough to be cheap each, small enough to let other writers in between. */
const BATCH_SIZE = 5000;
const TRIM_SLICE = 5000;
/** Attempts of the last write at the stop, and the time between them. */
const STOP_ATTEMPTS = 3;
const STOP_RETRY_MS = 200;

/**
 * Flushes and slices of a trim run one at a time.
 *
 * An account may be removed at any time, also while its entries are being written. The caller deletes it in the database first
 * (`AccountStore.remove`) and then calls `HeartbeatPool.remove`. No entries remain in any order of the transactions: rows appended
 * before the removal are deleted with the account, the store drops entries appended after it, the pool drops the waiting entries,
 * and ignores totals that were read before the removal.
 */
export function createHeartbeatWriter(options: {
  readonly pool: HeartbeatPool;
  readonly directory: Pick<AccountDirectory, 'takeLogins' | 'restoreLogins' | 'byId'>;
  readonly heartbeats: Pick<HeartbeatStore, 'append' | 'trim' | 'totalsOf'>;
  readonly accounts: Pick<AccountStore, 'saveLogins'>;
  /** Writes the counted traffic of accounts. Rejects when it cannot, and keeps it then. */
  readonly traffic: { flush(): Promise<void> };
  /** Writes the records of sessions. Rejects when it cannot, and keeps them then. */
  readonly records: { flush(): Promise<void> };
  readonly retention: HeartbeatRetention;
  readonly flushIntervalMs: number;
  readonly trimIntervalMs: number;
  readonly now: Clock;
  readonly timers: Timers;
  readonly log: Log;
}) {
  const { pool, directory, heartbeats, accounts, retention, now, timers, log } = options;
  const inTurn = createTurns();
  const trimmer = createPoller({
    intervalMs: options.trimIntervalMs,
    poll: trimSlices,
    onError: (err) => log.error({ err }, 'deleting old heartbeats failed; will retry'),
    timers,
  });
  const running: Timer[] = [];
  let nextFlush: Promise<void> | null = null;
  let batchNumber = 0;
  /** A batch whose commit was not confirmed: the next flush retries it with the same number. */
  let unconfirmed: readonly Heartbeat[] | null = null;
  let failingSince: number | null = null;
  let droppedReported = 0;
  let stopped = false;

  /** Writes the entries, logins, traffic and records from before the call. Rejects with the error of the database, and keeps them then. */
  function flush(): Promise<void> {
    // Calls share a flush that waits for its turn, because it has not taken any entries yet.
    nextFlush ??= inTurn('database', () => {
      nextFlush = null;
      return writeAll();
    });
    return nextFlush;
  }

  async function writeAll(): Promise<void> {
    try {
      await writeLogins();
      // Before the entries: who reads an entry finds the record of its session.
      await options.records.flush();
      await writeEntries();
      await options.traffic.flush();
    } catch (error) {
      // Once per outage. Everything is kept and retried.
      if (failingSince === null)
        log.error({ err: error, pending: pool.pendingSize }, 'heartbeat write failed; will retry');
      failingSince ??= now();
      throw error;
    }
    if (failingSince !== null) log.info({ outageMs: now() - failingSince }, 'heartbeat write recovered');
    failingSince = null;
  }

  async function writeLogins(): Promise<void> {
    const logins = directory.takeLogins();
    if (logins.length === 0) return;
    await accounts.saveLogins(logins).catch((error: unknown) => {
      directory.restoreLogins(logins);
      throw error;
    });
  }

  async function writeEntries(): Promise<void> {
    if (unconfirmed !== null) await writeBatch(unconfirmed);
    // Entries recorded meanwhile are left to the next flush, so that this one ends.
    let remaining = pool.pendingSize;
    while (remaining > 0) {
      const batch = pool.takeBatch(Math.min(remaining, BATCH_SIZE));
      if (batch.length === 0) return;
      remaining -= batch.length;
      await writeBatch(batch);
    }
  }

  async function writeBatch(batch: readonly Heartbeat[]): Promise<void> {
    if (batch !== unconfirmed) batchNumber += 1;
    let totals: HeartbeatTotals[];
    try {
      totals = await heartbeats.append(batch, retention, batchNumber);
    } catch (error) {
      if (isCommitUnknown(error)) unconfirmed = batch;
      if (unconfirmed === null) pool.failed(batch);
      throw error;
    }
    unconfirmed = null;
    pool.written(batch, totals);
  }

  async function trimSlices(): Promise<void> {
    const before = now() - retention.maxAgeMs;
    let more = true;
    while (more && !stopped) {
      more = await inTurn('database', async () => {
        const slice = await heartbeats.trim(before, TRIM_SLICE);
        pool.update(slice.changed);
        return slice.more;
      });
      // Let requests and other writers go first.
      await new Promise((resume) => setImmediate(resume));
    }
  }

  function reportDropped(): void {
    const entries = pool.dropped - droppedReported;
    if (entries > 0) log.warn({ entries }, 'heartbeat entries dropped: heartbeats.maxPending reached');
    droppedReported += entries;
  }

  async function flushAtStop(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await flush();
      } catch (error) {
        if (attempt === STOP_ATTEMPTS) {
          const lost = { err: error, entries: pool.pendingSize };
          log.error(lost, 'heartbeat entries lost: database not responding');
          throw error;
        }
      }
      await new Promise((resume) => timers.after(STOP_RETRY_MS, () => resume(null)));
    }
  }

  return {
    /** Starts the timers; they do not keep the process alive. */
    start(): void {
      running.push(
        // A failed flush has been reported; the next tick retries.
        timers.every(options.flushIntervalMs, () => void flush().catch(() => {})),
        timers.every(options.trimIntervalMs, reportDropped),
      );
      trimmer.start();
    },

    flush,

    // In turn with the writes: totals that were read before a write must not be applied after it.
    /** Reloads the totals of these accounts after other nodes have written entries. */
    refresh: (accountIds: readonly string[]): Promise<void> =>
      inTurn('database', async () => {
        const totals = await heartbeats.totalsOf(accountIds);
        pool.updateElsewhere(totals.filter(({ accountId }) => directory.byId(accountId)));
      }),

    /** Stops the timers, waits for running work and writes the rest, in a few attempts. Rejects when they fail: the rest is lost. */
    async stop(): Promise<void> {
      stopped = true;
      for (const timer of running.splice(0)) timer.clear();
      await trimmer.stop();
      await flushAtStop().finally(reportDropped);
    },
  };
}
