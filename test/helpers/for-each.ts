// Processes many items with limited concurrency.

/** Runs `run` for every item, at most `atOnce` of them together. */
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
