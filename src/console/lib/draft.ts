// What is typed into a form: the fields own it until it is sent, whatever is read from the daemon meanwhile.
import { useRef, useState } from 'preact/hooks';
import { type Unsaved, useUnsaved } from './unsaved.js';

export interface Draft<T> {
  /** What the fields show. */
  readonly values: T;
  /** What was saved when the first field was changed; until then it follows what is read. */
  readonly base: T;
  /** The fields that differ from `base`, and nothing else. */
  readonly changes: Partial<T>;
  readonly isDirty: boolean;
  set(patch: Partial<T>): void;
  /** Forgets what was typed: the fields follow what is read again. */
  reset(): void;
}

/**
 * @param saved the fields as they are stored; read again and again, it only reaches a form that nobody has changed
 * @param options.guard false: leaving the page does not ask (a dialog that asks itself)
 */
export function useDraft<T extends object>(saved: T, { guard = true } = {}): Draft<T> {
  const [typed, setTyped] = useState<Partial<T>>({});
  const base = useRef(saved);
  const isDirty = Object.keys(typed).length > 0;
  if (!isDirty) base.current = saved;
  const unsaved: Unsaved | null = guard && isDirty ? 'typed' : null;
  useUnsaved(unsaved);
  return {
    values: { ...base.current, ...typed },
    base: base.current,
    changes: typed,
    isDirty,
    set(patch) {
      setTyped((before) => {
        const next = { ...before, ...patch };
        const names = Object.keys(next) as (keyof T)[];
        return Object.fromEntries(
          names.filter((name) => !isSame(next[name], base.current[name])).map((name) => [name, next[name]]),
        ) as Partial<T>;
      });
    },
    reset: () => setTyped({}),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other);
}
