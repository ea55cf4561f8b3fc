// The signals of `pulsegate serve`: SIGTERM and SIGINT stop it, SIGHUP reloads the configuration.

export type Signals = ReturnType<typeof catchSignals>;

/** Handles SIGTERM and SIGINT. A signal that nobody waits for (during the start, or the third one) exits at once. */
export function catchSignals() {
  let waiting: ((signal: NodeJS.Signals) => void) | null = null;
  let exitCode = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, (signal) => {
      if (!waiting) process.exit(exitCode);
      waiting(signal);
      waiting = null;
      exitCode = 1;
    });
  }
  return {
    /** Resolves with the next signal. */
    next: () =>
      new Promise<NodeJS.Signals>((resolve) => {
        waiting = resolve;
      }),
  };
}

/** Handles SIGHUP, which would end the process. Signals during the start, or during a reload, cause one call after it. */
export function catchHangups() {
  let isRequested = false;
  let idle: (() => Promise<void>) | null = null;
  function next(): void {
    const reload = idle;
    if (!isRequested || reload === null) return;
    isRequested = false;
    idle = null;
    void reload().then(() => handle(reload));
  }
  /** Calls `reload` for each SIGHUP, one call at a time. It must not reject. */
  function handle(reload: () => Promise<void>): void {
    idle = reload;
    next();
  }
  process.on('SIGHUP', () => {
    isRequested = true;
    next();
  });
  return { handle };
}
