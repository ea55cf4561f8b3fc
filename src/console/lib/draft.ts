// The state of a form. The fields own what the user types until the form is sent, even when the daemon's data changes meanwhile. And
// what would be lost if the reader left the page now: changed forms, and secrets that are shown once.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { cell } from './cell.js';

/** What a control shows of a field, and what it does with what is typed. */
export interface Controlled<T> {
  readonly value: T;
  readonly onInput: (value: T) => void;
  /** The field's name in the request. */
  readonly path?: string;
}

/** `<Input {...control('name')} />` */
export type Control<T> = <K extends keyof T>(name: K) => Controlled<T[K]>;

export const controlOf =
  <T extends object>(values: T, set: (patch: Partial<T>) => void): Control<T> =>
  (name) => ({ value: values[name], onInput: (value) => set({ [name]: value } as unknown as Partial<T>) });

export interface Draft<T> {
  readonly values: T;
  /** The saved values at the time of the first change. Before a change, `base` follows the daemon's data. */
  readonly base: T;
  /** Only the fields that differ from `base`. */
  readonly changes: Partial<T>;
  readonly isDirty: boolean;
  set(patch: Partial<T>): void;
  readonly control: Control<T>;
  /** Discards the changes. The fields follow the daemon's data again. */
  reset(): void;
}

/** @param saved the stored fields; new values reach only a form without changes */
export function useDraft<T extends object>(saved: T): Draft<T> {
  const [typed, setTyped] = useState<Partial<T>>({});
  const base = useRef(saved);
  const isDirty = Object.keys(typed).length > 0;
  if (!isDirty) base.current = saved;
  useUnsaved(isDirty ? 'typed' : null);
  const values = { ...base.current, ...typed };
  const set = (patch: Partial<T>) =>
    setTyped((before) => {
      const next = Object.entries({ ...before, ...patch });
      const changed = next.filter(([name, value]) => !isSame(value, base.current[name as keyof T]));
      return Object.fromEntries(changed) as Partial<T>;
    });
  return {
    values,
    base: base.current,
    changes: typed,
    isDirty,
    set,
    control: (name) => ({ ...controlOf(values, set)(name), path: String(name) }),
    reset: () => setTyped({}),
  };
}

export function toggled<T>(set: ReadonlySet<T>, item: T, on: boolean): ReadonlySet<T> {
  const next = new Set(set);
  if (on) next.add(item);
  else next.delete(item);
  return next;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** `typed`: a form has unsaved changes. `secret`: the screen shows a password or token that the console cannot show again. */
export type Unsaved = 'typed' | 'secret';

const held = new Map<object, Unsaved>();

/** The open question whether to discard something unsaved; null: none. */
export const question = cell<Question | null>(null);

interface Question {
  readonly id: number;
  readonly what: Unsaved;
  readonly discard: () => void;
}
let questions = 0;

/** While `what` is not null, the console asks before the reader leaves the page, closes the window or goes back. */
export function useUnsaved(what: Unsaved | null): void {
  useLayoutEffect(() => {
    if (what === null) return;
    const holder = {};
    held.set(holder, what);
    return () => {
      held.delete(holder);
    };
  }, [what]);
}

export const hasUnsaved = (): boolean => held.size > 0;

/** Calls `discard` at once. If something would be lost, asks the reader first. */
export function leave(discard: () => void): void {
  if (hasUnsaved()) askToDiscard([...held.values()].includes('secret') ? 'secret' : 'typed', discard);
  else discard();
}

export function askToDiscard(what: Unsaved, discard: () => void): void {
  questions += 1;
  question.set({ id: questions, what, discard });
}

addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault();
});
