// Runs several steps in order, also after a failure, so that a stop completes all steps.

/** Runs all steps in order, also after a failure. Then rejects with the first failure, if any. */
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
