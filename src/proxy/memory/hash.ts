// A hash that is the same in every thread, and which worker an account belongs to by it. FNV-1a, 32 bits (draft-eastlake-fnv): fast,
// not collision-resistant against attackers.

/** The hash of bytes, as a signed 32-bit number. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** A number below `workers`, the same in every thread. FNV-1a over the bytes of the user name. */
export function workerOf(username: Uint8Array, workers: number): number {
  return (fnv1a(username) >>> 0) % workers;
}
