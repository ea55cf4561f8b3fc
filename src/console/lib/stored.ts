// What this browser keeps for its user: choices of columns, saved views. Each is an object under a key of its own.

/** Returns what is kept under the key; an empty object when nothing is, or something unreadable. */
export function readStored<T extends object>(key: string): T {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? '{}') ?? {}) as T;
  } catch {
    return {} as T;
  }
}

export const keepStored = (key: string, value: object): void =>
  localStorage.setItem(key, JSON.stringify(value));
