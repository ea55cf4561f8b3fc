// The status of the account. The page reads it again while it is visible.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ask, PlayerError, type Status } from './api.js';

const EVERY_MS = 10_000;

/** `gone`: the page's address no longer belongs to an account. */
export type Trouble = 'gone' | 'busy' | 'offline';

export function useStatus(): {
  readonly status: Status | null;
  readonly trouble: Trouble | null;
  /** Shows the answer of a change. */
  readonly setStatus: (status: Status) => void;
} {
  const [status, setStatus] = useState<Status | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const reload = useCallback(async () => {
    try {
      setStatus(await ask<Status>('status'));
      setTrouble(null);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  }, []);
  const isGone = trouble === 'gone';
  useEffect(() => {
    if (isGone) return;
    void reload();
    const again = () => {
      if (!document.hidden) void reload();
    };
    const timer = setInterval(again, EVERY_MS);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [isGone, reload]);
  return { status, trouble, setStatus };
}

function troubleOf(error: unknown): Trouble {
  const status = error instanceof PlayerError ? error.status : 0;
  if (status === 404) return 'gone';
  return status === 429 ? 'busy' : 'offline';
}
