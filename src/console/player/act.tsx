// Runs one change at a time: tells when it is busy, and explains a failure in the player's language.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type TextKey, t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { PlayerError } from './api.js';

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
