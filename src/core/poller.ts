// Polls periodically, one poll at a time.

export interface Poller {
  start(): void;
  /** Polls immediately, or joins a running poll; resolves when it has ended. */
  ask(): Promise<void>;
  /** Stops polling; resolves when a running poll has ended. */
  stop(): Promise<void>;
}

/** @param work one poll; rejections go to `onError`, and polling continues */
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
