// Combines writes that arrive together into one transaction, because each transaction waits for the disk once.
import { setImmediate as nextTurn } from 'node:timers/promises';

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Maximum number of items in one transaction, so that other writers do not wait long. */
const MAX_BATCH = 500;

/** @param write writes a batch and returns a result for every item, in order; never called concurrently */
export function createBatches<Item, Result>(write: (items: readonly Item[]) => Promise<readonly Result[]>) {
  const waiting: Waiting<Item, Result>[] = [];
  let writing: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    // Wait for one turn of the event loop, to collect all items of this turn.
    await nextTurn();
    while (waiting.length > 0) await writeBatch(waiting.splice(0, MAX_BATCH));
    writing = null;
  }

  async function writeBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('batch write returned a wrong number of results');
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    /** Resolves with the result of `item` when its batch is written. Rejects for all items of the batch when the write fails. */
    add: (item: Item): Promise<Result> =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        writing ??= writeAll();
      }),
    /** Resolves when no items are waiting. */
    idle: async (): Promise<void> => {
      await writing;
    },
  };
}
