// Work on many accounts, in transactions of a few hundred each.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../core/log.js';

/** Accounts in one transaction: logins and other writers come in between two. */
const SLICE = 250;

/**
 * Does the work slice by slice, and returns what was not done because the database could not be written: what was done
 * before is to be answered all the same. Rejects when nothing was.
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
