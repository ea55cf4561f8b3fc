// Doing several things in turn, each whatever became of those before it: what stops must not stop half way.

/** Does every step in turn, also after one that failed; then rejects with the first failure, if there was one. */
export async function everyStep(...steps: readonly (() => void | Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
