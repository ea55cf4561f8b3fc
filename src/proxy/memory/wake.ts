// Wakes the loop of a native worker from another thread that uses Node's event loop.
import { writeSync } from 'node:fs';

const INCREMENT = new Uint8Array(new BigUint64Array([1n]).buffer);

/** Increments the worker's eventfd (eventfd(2)); does nothing for -1, and when the worker has just died. */
export function wake(wakeFd: number): void {
  if (wakeFd === -1) return;
  try {
    writeSync(wakeFd, INCREMENT);
  } catch {
    // The worker's successor gets everything that it needs.
  }
}
