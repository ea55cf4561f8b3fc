// Repeats calls of agents that have certainly not started a run.
import { setTimeout as pause } from 'node:timers/promises';

const MAX_TRIES = 3;
const PAUSE_MS = 500;

/**
 * Makes a call up to three times. The signal bounds the total time.
 * @param mayRetry whether the run has certainly not started; or the time to wait before the retry, in ms
 */
export async function callUntilStarted<T>(
  call: () => Promise<T>,
  mayRetry: (result: T) => boolean | number,
  signal: AbortSignal,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    const result = await call();
    const retry = mayRetry(result);
    if (retry === false || tried === MAX_TRIES || signal.aborted) return result;
    try {
      await pause(retry === true ? PAUSE_MS * tried : retry, undefined, { signal });
    } catch {
      return result;
    }
  }
}
