// Detects that the database is no longer usable, and logs the problem and its end once.
import type { Log } from '../core/log.js';
import { STORAGE_PROBLEMS, type StorageFault, type StorageProblem } from '../core/storage.js';

export interface StorageWatch {
  /** What is wrong; null when nothing is, as of a second ago at most. Never rejects. */
  problem(): Promise<StorageProblem | null>;
  /** A log for what works in the background: an error that a problem of the storage explains is for this watch to say. */
  readonly log: Log;
  start(): void;
  /** A last check. Rejects when what was written may be lost. */
  stop(): Promise<void>;
}

/** A check that is not older than this is as good as a new one, in ms. */
const FRESH_MS = 1000;

export function createStorageWatch(uses: {
  readonly check: () => Promise<StorageFault | null>;
  /** Whether an error is the database's, and not of the query or what it was given. */
  readonly isFault: (error: unknown) => boolean;
  readonly intervalMs: number;
  readonly log: Log;
  readonly monotonicNow: () => number;
}): StorageWatch {
  const { check, isFault, intervalMs, log, monotonicNow } = uses;
  let current: StorageProblem | null = null;
  let since = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let underWay: Promise<StorageProblem | null> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;

  async function look(): Promise<StorageProblem | null> {
    const fault = await check();
    checkedAt = monotonicNow();
    take(fault);
    return current;
  }

  function take(fault: StorageFault | null): void {
    const problem = fault?.problem ?? null;
    // At the end the database may be closed under a check that takes long: only what was found first is said.
    if (problem === current || (isStopping && current !== null)) return;
    if (current === null) since = monotonicNow();
    current = problem;
    if (fault) {
      const { problem, error } = fault;
      log.error(
        { problem, what: STORAGE_PROBLEMS[problem], ...(error ? { err: error } : {}) },
        'database lost',
      );
    } else log.info({ outageMs: Math.round(monotonicNow() - since) }, 'database works again');
  }

  function checkNow(): Promise<StorageProblem | null> {
    underWay ??= look().finally(() => {
      underWay = null;
    });
    return underWay;
  }

  /** Says it at once when no problem is found that explains it. */
  async function sayUnlessExplained(
    fields: Readonly<Record<string, unknown>>,
    message: string,
  ): Promise<void> {
    const problem = current ?? (await checkNow());
    log[problem === null ? 'error' : 'debug'](fields, message);
  }

  return {
    // A known problem is looked at again by the timer: who asks need not wait for a lock as well.
    async problem() {
      return current !== null || monotonicNow() - checkedAt < FRESH_MS ? current : checkNow();
    },

    log: {
      debug: (fields, message) => log.debug(fields, message),
      info: (fields, message) => log.info(fields, message),
      warn: (fields, message) => log.warn(fields, message),
      error(fields, message) {
        if (isFault(fields['err'])) void sayUnlessExplained(fields, message);
        else log.error(fields, message);
      },
    },

    start() {
      timer = setInterval(() => void checkNow(), intervalMs).unref();
    },

    async stop() {
      clearInterval(timer);
      isStopping = true;
      await underWay;
      const problem = await checkNow();
      if (problem) throw new Error(STORAGE_PROBLEMS[problem]);
    },
  };
}
