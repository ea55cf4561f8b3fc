// A value that components can watch: the smallest useful store. And what this browser keeps for its user: choices of columns, saved
// views. Each is an object under a key of its own.
import { useEffect, useState } from 'preact/hooks';

export interface Cell<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function cell<T>(initial: T): Cell<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** Returns the cell's value. The component renders again when the value changes. */
export function useCell<T>(source: Cell<T>): T {
  const [value, setValue] = useState(source.get());
  useEffect(() => {
    setValue(source.get());
    return source.subscribe(() => setValue(source.get()));
  }, [source]);
  return value;
}

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
