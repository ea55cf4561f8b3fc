// The question for the password again, before what outlasts this console session. One dialog answers it for every request.
import { call } from './api.js';
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

/** A download can take some seconds to begin. */
const SPARE_MS = 5_000;

/** Opens the link of a download that needs a confirmation. A browser would show the refusal as a page. */
export function confirmThenFollow(event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void {
  event.preventDefault();
  const link = document.createElement('a');
  link.href = event.currentTarget.href;
  link.download = '';
  void (async () => {
    const { confirmedUntil, now } = await call('getMe');
    const leftMs = confirmedUntil === null ? 0 : Date.parse(confirmedUntil) - Date.parse(now);
    if (leftMs > SPARE_MS || (await askToConfirm())) link.click();
  })().catch(() => link.click());
}
