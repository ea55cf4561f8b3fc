// Polls until an assertion passes. It is the only way to wait for a state without an event.
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 10;
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
    await pause(POLL_MS);
  }
}
