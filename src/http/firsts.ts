// Logs once per key: remembers which keys were logged, up to a bound.
export interface Firsts {
  /** Whether `key` is asked about for the first time. */
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
