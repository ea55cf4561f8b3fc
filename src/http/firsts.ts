// What is said in the log once: of each key the first time, and of no more keys than a log can bear.
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
