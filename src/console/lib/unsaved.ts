// Data that would be lost if the reader left the page now: changed forms, and secrets that are shown once.
import { useLayoutEffect } from 'preact/hooks';
import { cell } from './cell.js';

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
    const owner = {};
    held.set(owner, what);
    return () => {
      held.delete(owner);
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
