// Tells from the write-ahead log of a SQLite file, without a query, whether any process has written to the database.
import { statSync } from 'node:fs';
import type { Clock } from '../../core/clock.js';

/** Two writes within this time may leave the same time at the log: file systems count time in steps. */
const STEP_MS = 100;
/** Without a sign of a write, one is assumed after this time: some rows become due by time alone. */
const ASSUMED_AFTER_MS = 10_000;

/** Returns a check for one caller: whether the file may have been written to since its last call. True at first, and in doubt. */
export function watchWrites(file: string, now: Clock = Date.now): () => boolean {
  const log = `${file}-wal`;
  let seen = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  return () => {
    const found = statSync(log, { bigint: true, throwIfNoEntry: false });
    const state = found ? `${found.ino} ${found.size} ${found.mtimeNs}` : '';
    const at = now();
    const isQuiet = state !== '' && state === seen && at >= writtenAt && at - writtenAt < ASSUMED_AFTER_MS;
    if (isQuiet) return false;
    writtenAt = at;
    // What is written next may not show when the last write is so recent: the next call is in doubt.
    seen = found && Math.abs(at - Number(found.mtimeMs)) > STEP_MS ? state : '';
    return true;
  };
}
