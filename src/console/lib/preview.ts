// What the daemon says an unsent form would do. It is asked again when the form has not changed for a moment.
import { useEffect, useState } from 'preact/hooks';
import { online } from './api.js';
import { useCell } from './cell.js';

export interface Preview<T> {
  /** Null until the daemon has answered for exactly this form. */
  readonly result: T | null;
  readonly error: unknown;
}

/** @param form null: there is nothing to ask for yet */
export function usePreview<Form, T>(
  form: Form | null,
  ask: (form: Form, signal: AbortSignal) => Promise<T>,
  settleMs: number,
): Preview<T> & { readonly pending: boolean } {
  const current = form && JSON.stringify(form);
  const question = useSettled(current, settleMs);
  const [answered, setAnswered] = useState<Preview<T> & { readonly question: string | null }>();
  const isOnline = useCell(online);
  useEffect(() => {
    if (question === null) return;
    const abort = new AbortController();
    ask(JSON.parse(question) as Form, abort.signal).then(
      (result) => setAnswered({ question, result, error: null }),
      (error: unknown) => abort.signal.aborted || setAnswered({ question, result: null, error }),
    );
    return () => abort.abort();
  }, [question, isOnline]);
  if (current === null) return { result: null, error: null, pending: false };
  if (answered?.question !== current) return { result: null, error: null, pending: true };
  return { ...answered, pending: false };
}

/** Returns the value after it has not changed for `ms`: for questions while the user types. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
