// Writes heartbeat entries and login times to the database in batches, and deletes old entries.

import type { AccountStore } from '../accounts/account-store.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { Clock } from '../clock.js';
import { createPoller } from '../poller.js';
import { isCommitUnknown } from '../storage.js';
import type { Timer, Timers } from '../timers.js';
import { createTurns } from '../turns.js';
import type { Heartbeat, HeartbeatRetention, HeartbeatTotals } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';
import type { HeartbeatStore } from './heartbeat-store.js';

/** Events for the log. */
export type WriterEvent =
  /** Writing failed; said once, however often it fails until it works again. Everything is kept and tried again. */
  | { readonly kind: 'write-failed'; readonly error: unknown; readonly pending: number }
  | { readonly kind: 'write-recovered'; readonly outageMs: number }
  /** Entries given up since the last such event because the pool was full. */
  | { readonly kind: 'entries-dropped'; readonly entries: number }
  | { readonly kind: 'trim-failed'; readonly error: unknown }
  /** At stop the database still did not answer: so many entries are lost. */
  | { readonly kind: 'entries-lost'; readonly entries: number; readonly error: unknown };

export interface HeartbeatWriterOptions {
  readonly pool: HeartbeatPool;
  readonly directory: Pick<AccountDirectory, 'takeLogins' | 'restoreLogins' | 'byId'>;
  readonly heartbeats: Pick<HeartbeatStore, 'append' | 'trim' | 'totalsOf'>;
  readonly accounts: Pick<AccountStore, 'saveLogins'>;
  /** Writes what accounts have moved; rejects when it cannot, and keeps it then. */
  readonly traffic: { flush(): Promise<void> };
  readonly retention: HeartbeatRetention;
  readonly flushIntervalMs: number;
  readonly trimIntervalMs: number;
  readonly now: Clock;
  readonly timers: Timers;
  /** Must not throw. */
  readonly report: (event: WriterEvent) => void;
}

export interface HeartbeatWriter {
  /** Starts the timers; they do not keep the process alive. */
  start(): void;
  /**
   * Writes what was recorded before the call. Rejects with the database's error when it cannot; nothing is lost then.
   */
  flush(): Promise<void>;
  /** Takes in what other nodes have written of these accounts. */
  refresh(accountIds: readonly string[]): Promise<void>;
  /** Stops the timers, waits for what is running and writes the rest, with a few attempts. Rejects when it cannot: the rest is lost. */
  stop(): Promise<void>;
}

/** Entries in one transaction: large enough to be cheap each, small enough to let other writers in between. */
const BATCH_SIZE = 5000;
const TRIM_SLICE = 5000;
/** At stop the database gets this many chances, so far apart. */
const STOP_ATTEMPTS = 3;
const STOP_RETRY_MS = 200;

/**
 * Writes are never made two at a time: flushes and slices of a trim take turns.
 *
 * An account may be removed at any moment, also while entries of it are being written. Whoever removes one deletes it
 * in the database first (`AccountStore.remove`) and then calls `HeartbeatPool.remove`. Then whichever transaction the
 * database takes first, nothing is left: rows appended before go with the account, entries appended after are dropped
 * by the store since their account is gone, waiting ones are dropped by the pool, and totals that were read before the
 * removal but arrive after it are not taken in.
 */
export function createHeartbeatWriter(options: HeartbeatWriterOptions): HeartbeatWriter {
  const { pool, directory, heartbeats, accounts, retention, now, timers, report } = options;
  const inTurn = createTurns();
  const trimmer = createPoller({
    intervalMs: options.trimIntervalMs,
    poll: trimSlices,
    onError: (error) => report({ kind: 'trim-failed', error }),
    timers,
  });
  const running: Timer[] = [];
  let nextFlush: Promise<void> | null = null;
  let batchNumber = 0;
  /** A batch that may be written: the next flush tries it again, with the same number. */
  let unsure: readonly Heartbeat[] | null = null;
  let failingSince: number | null = null;
  let droppedReported = 0;
  let stopped = false;

  function flush(): Promise<void> {
    // Whoever asks while a flush waits for its turn shares it: it has not yet taken any entries.
    nextFlush ??= inTurn('database', () => {
      nextFlush = null;
      return writeAll();
    });
    return nextFlush;
  }

  async function writeAll(): Promise<void> {
    try {
      await writeLogins();
      await writeEntries();
      await options.traffic.flush();
    } catch (error) {
      if (failingSince === null) report({ kind: 'write-failed', error, pending: pool.pendingSize });
      failingSince ??= now();
      throw error;
    }
    if (failingSince !== null) report({ kind: 'write-recovered', outageMs: now() - failingSince });
    failingSince = null;
  }

  async function writeLogins(): Promise<void> {
    const logins = directory.takeLogins();
    if (logins.length === 0) return;
    try {
      await accounts.saveLogins(logins);
    } catch (error) {
      directory.restoreLogins(logins);
      throw error;
    }
  }

  async function writeEntries(): Promise<void> {
    if (unsure !== null) await writeBatch(unsure);
    // What comes in meanwhile is for the next flush: this one must end.
    let left = pool.pendingSize;
    while (left > 0) {
      const batch = pool.takeBatch(Math.min(left, BATCH_SIZE));
      if (batch.length === 0) return;
      left -= batch.length;
      await writeBatch(batch);
    }
  }

  async function writeBatch(batch: readonly Heartbeat[]): Promise<void> {
    if (batch !== unsure) batchNumber += 1;
    let totals: HeartbeatTotals[];
    try {
      totals = await heartbeats.append(batch, retention, batchNumber);
    } catch (error) {
      if (isCommitUnknown(error)) unsure = batch;
      if (unsure === null) pool.failed(batch);
      throw error;
    }
    unsure = null;
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
      // Lets the listener and other writers go first.
      await new Promise((resume) => setImmediate(resume));
    }
  }

  function reportDropped(): void {
    const entries = pool.dropped - droppedReported;
    if (entries > 0) report({ kind: 'entries-dropped', entries });
    droppedReported += entries;
  }

  async function flushAtStop(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await flush();
      } catch (error) {
        if (attempt === STOP_ATTEMPTS) {
          report({ kind: 'entries-lost', entries: pool.pendingSize, error });
          throw error;
        }
      }
      await new Promise((resume) => timers.after(STOP_RETRY_MS, () => resume(null)));
    }
  }

  return {
    start() {
      running.push(
        // A failed flush has been reported; the next tick tries again.
        timers.every(options.flushIntervalMs, () => void flush().catch(() => {})),
        timers.every(options.trimIntervalMs, reportDropped),
      );
      trimmer.start();
    },

    flush,

    // In turn with our own writes: totals that were read before one must not be taken in after it.
    refresh: (accountIds) =>
      inTurn('database', async () => {
        const totals = await heartbeats.totalsOf(accountIds);
        pool.updateElsewhere(totals.filter(({ accountId }) => directory.byId(accountId)));
      }),

    async stop() {
      stopped = true;
      for (const timer of running.splice(0)) timer.clear();
      await trimmer.stop();
      await flushAtStop().finally(reportDropped);
    },
  };
}
