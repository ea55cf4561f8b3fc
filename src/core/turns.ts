// Taking turns: tasks that share a key run one after another, in the order they came.

/** Runs `task` once every earlier task of the same `key` has ended, however it ended; settles as `task` does. */
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
 * The same for several keys at once, each waited for once however often it is named. All of them queue up at the same
 * moment, so that no two tasks can wait crosswise.
 */
export async function inTurnOfAll<Result>(
  inTurn: InTurn,
  keys: readonly string[],
  task: () => Promise<Result>,
): Promise<Result> {
  let start = (): void => {};
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const each = new Set(keys);
  let waiting = each.size;
  if (waiting === 0) start();
  for (const key of each) {
    void inTurn(key, () => {
      waiting -= 1;
      if (waiting === 0) start();
      return finished;
    });
  }
  await started;
  try {
    return await task();
  } finally {
    finish();
  }
}
