// Polls until an assertion passes. It is the only way to wait for a state without an event.
import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
/** The part of the time since the start that a pause may take: a long wait must not cost the processor time of what it waits for. */
const PAUSE_PART = 0.05;
const TIMEOUT_MS = 30_000;

/**
 * Resolves with the result of `check`, once it neither throws nor returns false. Rejects after `timeoutMs` with the last error of
 * `check`.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const isLast = performance.now() - startedAt >= timeoutMs;
    try {
      const value = await check();
      if (value !== false) return value;
      if (isLast) throw new Error(`not within ${timeoutMs} ms: ${check}`);
    } catch (error) {
      if (isLast) throw error;
    }
    const waitedMs = performance.now() - startedAt;
    await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS + waitedMs * PAUSE_PART));
  }
}
