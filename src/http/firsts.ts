// Logs once per key. The number of remembered keys is bounded.
export interface Firsts {
  /** Returns whether this is the first call for `key`. */
  isFirst(key: string): boolean;
}

const MAX_KEYS = 100;

export function createFirsts(): Firsts {
  const keys = new Set<string>();
  return {
    isFirst(key) {
      if (keys.has(key) || keys.size >= MAX_KEYS) return false;
      keys.add(key);
      return true;
    },
  };
}
