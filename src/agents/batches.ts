// Writes that arrive together are made by one transaction, since the disk is waited for once a transaction.

export interface Batches<Item, Result> {
  /** Settles with what became of `item` once its batch is written. Rejects, like all of its batch, when that fails. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Items written by one transaction: enough to make it cheap, few enough to keep others from waiting long. */
const MAX_BATCH = 500;

/** @param write writes a batch and answers for every item, in order; never called while it is still at the previous one */
export function createBatches<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): Batches<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let writing: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    // One turn of the event loop: everything that is asked for in it joins in.
    await new Promise(setImmediate);
    while (waiting.length > 0) await writeBatch(waiting.splice(0, MAX_BATCH));
    writing = null;
  }

  async function writeBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('a batch was not answered for every item');
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        writing ??= writeAll();
      }),
    idle: async () => {
      await writing;
    },
  };
}
