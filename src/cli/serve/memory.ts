// Gives back the memory that only the start of the daemon has used.
import { setFlagsFromString } from 'node:v8';

/** V8 looks 8 s after a collection whether it is quiet enough for another that releases memory. */
const SHRINK_MS = 30_000;

/**
 * Call it when the daemon is ready. Loading the program has made V8's young generation large, and V8 keeps it so, unless it favours
 * memory for a while. Under load it grows again.
 */
export function shrinkHeaps(): void {
  setFlagsFromString('--optimize-for-size');
  setTimeout(setFlagsFromString, SHRINK_MS, '--no-optimize-for-size').unref();
}
