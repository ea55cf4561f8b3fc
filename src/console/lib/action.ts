// The state of an action that may fail: whether it runs, and why it failed.
import { useEffect, useState } from 'preact/hooks';
import { ApiError, online } from './api.js';

export interface Action {
  readonly busy: boolean;
  readonly error: unknown;
  run(act: () => Promise<unknown>): Promise<void>;
  clear(): void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // "Does not answer" is no longer true once the daemon answers.
  useEffect(
    () =>
      online.subscribe(() => {
        if (online.get())
          setError((was: unknown) => (was instanceof ApiError && was.code === 'offline' ? null : was));
      }),
    [],
  );
  return {
    busy,
    error,
    clear: () => setError(null),
    async run(act) {
      setBusy(true);
      setError(null);
      try {
        await act();
      } catch (failure) {
        setError(failure);
      } finally {
        setBusy(false);
      }
    },
  };
}
