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
