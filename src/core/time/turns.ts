// The order of tasks: one after another by key, one for several callers, or several steps of which each runs although another failed.

/** Runs `task` after all earlier tasks of `key` have settled; settles like `task`. */
export type InTurn = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>;

export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(task);
    const ended = turn.then(
      () => {},
      () => {},
    );
    last.set(key, ended);
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    return turn;
  };
}

/**
 * Like `InTurn` for several keys; ignores duplicates. All keys are queued at the same time, so that tasks cannot deadlock.
 */
export async function inTurnOfAll<Result>(
  inTurn: InTurn,
  keys: readonly string[],
  task: () => Promise<Result>,
): Promise<Result> {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const turnOf = (key: string): Promise<void> =>
    new Promise((begin) => {
      void inTurn(key, () => {
        begin();
        return finished;
      });
    });
  await Promise.all(Array.from(new Set(keys), turnOf));
  try {
    return await task();
  } finally {
    finish();
  }
}

/** Calls `make` at the first call, and returns its promise at each. */
export function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Returns `work` as a function whose calls join a running one. */
export function joined<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}

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
