// Reloads changed objects of one kind (accounts, settings, penalties). A reload reads the current state, so several changes of one
// object need only one reload. A failed reload is tried again.

export type Reloads = ReturnType<typeof createReloads>;

/**
 * @param reload when it rejects, `onError` gets the error, and the keys wait for the next `run`
 * @param maxKeys maximum number of keys of one reload
 * @param maxConcurrent maximum number of concurrent reloads
 */
export function createReloads(
  reload: (keys: readonly string[]) => Promise<void>,
  onError: (error: unknown) => void,
  { maxKeys = 1, maxConcurrent = 1 }: { readonly maxKeys?: number; readonly maxConcurrent?: number } = {},
) {
  const due = new Set<string>();
  const failed = new Set<string>();
  const running = new Set<Promise<void>>();
  let isStopping = false;
  let isWoken = false;

  function start(): void {
    isWoken = false;
    while (!isStopping && due.size > 0 && running.size < maxConcurrent) {
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
      if (keys.length === maxKeys) break;
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
    /** Adds the keys of changed objects. They are reloaded soon, together with keys that are added in the same turn of the event loop. */
    add(keys: Iterable<string>): void {
      for (const key of keys) due.add(key);
      wake();
    },
    /** Retries failed reloads. Call it periodically. */
    run(): void {
      for (const key of failed) due.add(key);
      failed.clear();
      wake();
    },
    /** Starts no more reloads; resolves when none is running. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(running);
    },
  };
}
