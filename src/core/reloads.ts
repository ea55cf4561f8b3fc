// What of one kind (accounts, settings, penalties) is to be read again. A reload reads the current state, so that several changes of
// one thing need one reload; one that fails is tried again.

export interface Reloads {
  /** Adds what has changed. It is reloaded soon, with what else is added at the same moment. */
  add(keys: Iterable<string>): void;
  /** Tries again what has failed. Call it periodically. */
  run(): void;
  /** Begins no more; resolves when none is under way. */
  stop(): Promise<void>;
}

/**
 * @param reload a rejection goes to `onError`, and its keys wait for the next `run`
 * @param atOnce most keys of one reload
 * @param underWay most reloads at a time
 */
export function createReloads(
  reload: (keys: readonly string[]) => Promise<void>,
  onError: (error: unknown) => void,
  { atOnce = 1, underWay = 1 }: { readonly atOnce?: number; readonly underWay?: number } = {},
): Reloads {
  const due = new Set<string>();
  const failed = new Set<string>();
  const running = new Set<Promise<void>>();
  let isStopping = false;
  let isWoken = false;

  function start(): void {
    isWoken = false;
    while (!isStopping && due.size > 0 && running.size < underWay) {
      const keys = take();
      const done: Promise<void> = reload(keys)
        .catch((error: unknown) => {
          for (const key of keys) failed.add(key);
          onError(error);
        })
        .finally(() => {
          running.delete(done);
          start();
        });
      running.add(done);
    }
  }

  function take(): string[] {
    const keys: string[] = [];
    for (const key of due) {
      if (keys.length === atOnce) break;
      keys.push(key);
      due.delete(key);
    }
    return keys;
  }

  function wake(): void {
    if (isWoken) return;
    isWoken = true;
    queueMicrotask(start);
  }

  return {
    add(keys) {
      for (const key of keys) due.add(key);
      wake();
    },
    run() {
      for (const key of failed) due.add(key);
      failed.clear();
      wake();
    },
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}
