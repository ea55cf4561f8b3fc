// Asking at intervals for what other processes did: one question at a time, whichever takes how long.

export interface Poller {
  start(): void;
  /** Asks at once, unless a question is under way; resolves when that one has ended. */
  ask(): Promise<void>;
  /** Asks no more; resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** @param work rejections go to `onError`, and the next question comes all the same */
export function createPoller(
  intervalMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Poller {
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | null = null;

  function ask(): Promise<void> {
    underWay ??= work()
      .catch(onError)
      .finally(() => {
        underWay = null;
      });
    return underWay;
  }

  return {
    start() {
      timer = setInterval(ask, intervalMs);
    },
    ask,
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
