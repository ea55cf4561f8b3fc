// Processes many items with limited concurrency.

/** Calls `run` for every item, with at most `atOnce` calls in progress. */
export async function forEach<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries();
  const some = async (): Promise<void> => {
    for (const [index, item] of rest) await run(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}
