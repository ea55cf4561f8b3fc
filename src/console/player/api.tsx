// Requests of the player page, one change at a time, and their failures in the player's language. All paths are below the page's own
// address, which is the credential. The page reads its status again while it is visible.
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { useAction } from '../lib/action.js';
import { type TextKey, t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import type { Status } from './api-types.js';

export type { Device, Seen, Status, Traffic } from './api-types.js';

class PlayerError extends Error {
  /** @param status HTTP status of the answer; 0: no answer */
  constructor(
    readonly status: number,
    readonly code: string | null = null,
  ) {
    super(`status ${status}`);
  }
}

/** The page's own address, below which everything is. */
export const here = (): string => location.pathname.replace(/\/$/, '');

/**
 * @param path below the page's own address
 * @throws PlayerError
 */
export async function ask<Answer>(path: string, body?: unknown): Promise<Answer> {
  const init: RequestInit =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${here()}/${path}`, { ...init, cache: 'no-store' }).catch(() => {
    throw new PlayerError(0);
  });
  if (!response.ok) throw new PlayerError(response.status, await codeOf(response));
  return (await response.json()) as Answer;
}

/** Returns the code of a problem. The guards that run before the routes answer with plain text instead. */
async function codeOf(response: Response): Promise<string | null> {
  const answer: unknown = await response.json().catch(() => null);
  const code = (answer as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}

const EVERY_MS = 10_000;

/** `gone`: the page's address no longer belongs to an account. */
type Trouble = 'gone' | 'busy' | 'offline';

/** `setStatus` shows the answer of a change. */
export function useStatus() {
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

/** `wrong`: what went wrong; null: nothing. */
export function useAct() {
  const { busy, error, run } = useAction();
  return { busy, run, wrong: error === null ? null : t(textOf(error)) };
}

const BY_CODE: Readonly<Record<string, TextKey>> = {
  'address-taken': 'player.wrong.addressTaken',
  conflict: 'player.wrong.addressUnknown',
};
const BY_STATUS: Readonly<Record<number, TextKey>> = {
  0: 'player.wrong.offline',
  400: 'player.wrong.invalid',
  403: 'player.wrong.forbidden',
  404: 'player.trouble.gone',
  429: 'player.wrong.often',
};

function textOf(error: unknown): TextKey {
  const { status, code } = error instanceof PlayerError ? error : new PlayerError(0);
  return BY_CODE[code ?? ''] ?? BY_STATUS[status] ?? 'player.wrong.failed';
}

export function Wrong({ text }: { text: string | null }) {
  return text === null ? null : (
    <p class="bad-text" role="alert">
      {text}
    </p>
  );
}

interface AskingButtonProps {
  readonly label: ComponentChildren;
  readonly question: string;
  readonly busy: boolean;
  readonly act: () => void;
}

/** A button that asks for confirmation in its own place before it acts. */
export function AskingButton({ label, question, busy, act }: AskingButtonProps) {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking)
    return (
      <Button disabled={busy} onClick={() => setAsking(true)}>
        {label}
      </Button>
    );
  return (
    <div class="player-question row wrap" role="group">
      <span class="grow">{question}</span>
      <Button onClick={() => setAsking(false)}>{t('dialog.cancel')}</Button>
      <Button
        kind="danger"
        disabled={busy}
        onClick={() => {
          setAsking(false);
          act();
        }}
      >
        {label}
      </Button>
    </div>
  );
}
