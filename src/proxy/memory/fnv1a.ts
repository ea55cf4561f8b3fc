// FNV-1a, 32 bits (draft-eastlake-fnv): a fast hash, the same in every thread. Not collision-resistant against attackers.

/** The hash of bytes, as a signed 32-bit number. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}
