// Which worker an account belongs to.
import { fnv1a } from '../memory/fnv1a.js';

/** A number below `workers`, the same in every thread. FNV-1a over the bytes of the user name. */
export function workerOf(username: Uint8Array, workers: number): number {
  return (fnv1a(username) >>> 0) % workers;
}
