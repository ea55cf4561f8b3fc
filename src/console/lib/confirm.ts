// The question for the password again, before what outlasts this console session. One dialog answers it for every request.
import { cell } from './cell.js';

interface Question {
  readonly answered: Promise<boolean>;
  readonly settle: (isConfirmed: boolean) => void;
}

/** The open question; null: none. */
export const confirmation = cell<Question | null>(null);

/** Asks for the password or a code. Resolves with false when the user cancels. Requests at the same time share one question. */
export function askToConfirm(): Promise<boolean> {
  const open = confirmation.get();
  if (open) return open.answered;
  let settle: Question['settle'] = () => {};
  const answered = new Promise<boolean>((resolve) => {
    settle = (isConfirmed) => {
      confirmation.set(null);
      resolve(isConfirmed);
    };
  });
  confirmation.set({ answered, settle });
  return answered;
}
