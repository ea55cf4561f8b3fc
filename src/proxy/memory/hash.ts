// A hash that is the same in every thread, and which worker an account belongs to by it. FNV-1a, 32 bits (draft-eastlake-fnv): fast,
// not collision-resistant against attackers.

/**
 * The hash of bytes from `start` to before `end`, as a signed 32-bit number.
 * @param basis another one gives another hash, with other collisions
 */
export function fnv1a(bytes: Uint8Array, basis = 0x811c9dc5, start = 0, end = bytes.length): number {
  let hash = basis;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return hash;
}

/** Between a user name and an exit. */
export const PLUS = 0x2b;

/**
 * A number below `workers`, the same in every thread. FNV-1a over the bytes of the user name.
 * @param hasSuffix clients may add an exit to a user name (`alice+jp`): all names that are equal up to the first plus sign belong together
 */
export function workerOf(username: Uint8Array, workers: number, hasSuffix = false): number {
  const plus = hasSuffix ? username.indexOf(PLUS) : -1;
  return (fnv1a(plus > 0 ? username.subarray(0, plus) : username) >>> 0) % workers;
}
