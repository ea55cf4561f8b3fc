// Finds the first time of each key, so that something is logged once per key. The number of remembered keys is bounded.
export interface OncePerKey {
  /** Returns whether this is the first call for `key`. */
  isFirst(key: string): boolean;
}

const MAX_KEYS = 100;

export function createOncePerKey(): OncePerKey {
  const keys = new Set<string>();
  return {
    isFirst(key) {
      if (keys.has(key) || keys.size >= MAX_KEYS) return false;
      keys.add(key);
      return true;
    },
  };
}
