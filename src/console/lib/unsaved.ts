// What would be lost if the page were left now: dirty forms, and secrets that are shown once.
import { useLayoutEffect } from 'preact/hooks';
import { cell } from './cell.js';

/** `typed`: a form with changes that were not saved. `secret`: a password or token on the screen that cannot be shown again. */
export type Unsaved = 'typed' | 'secret';

const held = new Map<object, Unsaved>();

/** What the reader is asked before something unsaved goes; null: nothing is asked. */
export const question = cell<Question | null>(null);

interface Question {
  readonly id: number;
  readonly what: Unsaved;
  readonly discard: () => void;
}
let questions = 0;

/** While it is not null, leaving the page, closing the window or going back asks first. */
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

/** Does it at once, or, when something would be lost, after the reader said so. */
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
