// Work on many accounts in transactions of 250 accounts each.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../core/log.js';

/** Accounts per transaction; other writers run between two transactions. */
const SLICE = 250;

/**
 * Runs the work slice by slice. Returns the items from the first failed write on, so that the caller can report what was written
 * before. Rejects when nothing was written.
 */
export async function inSlices<Item>(
  items: readonly Item[],
  log: Pick<Log, 'error'>,
  work: (slice: readonly Item[]) => Promise<void>,
): Promise<readonly Item[]> {
  for (let start = 0; start < items.length; start += SLICE) {
    try {
      await work(items.slice(start, start + SLICE));
    } catch (err) {
      if (start === 0) throw err;
      log.error({ err }, 'account batch not written');
      return items.slice(start);
    }
    await nextTurn();
  }
  return [];
}
