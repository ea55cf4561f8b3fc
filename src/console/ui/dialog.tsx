// Dialogs: the browser's own, so that focus stays inside and Esc closes.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../lib/i18n.js';
import { Button } from './basics.js';
import { Failure } from './states.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly wide?: boolean;
  /** Enter in a field does this. */
  readonly onSubmit?: () => void;
}

export function Dialog({ title, onClose, children, footer, wide = false, onSubmit }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : ''}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          <h2 id="dialog-title">{title}</h2>
          <Button icon="close" kind="quiet" onClick={onClose} label={t('dialog.close')} />
        </header>
        <div class="dialog-body">{children}</div>
        {footer && <footer>{footer}</footer>}
      </form>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action: string;
  readonly danger?: boolean;
  /** What must be typed before the button works. */
  readonly typed?: string;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something is done; stays open with the reason when it fails. */
export function Confirm({ title, children, action, danger = false, typed, act, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const { busy, error, run } = useAction();
  const ready = typed === undefined || text === typed;
  const submit = () => {
    if (ready && !busy) run(async () => act().then(onClose));
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={!ready || busy}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {typed !== undefined && (
        <label class="field">
          <span>{t('dialog.typeToConfirm', { text: typed })}</span>
          <input
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
      )}
      {error && <Failure error={error} />}
    </Dialog>
  );
}

/** Runs something that may fail, and says so. */
export function useAction(): {
  busy: boolean;
  error: unknown;
  run(act: () => Promise<unknown>): Promise<void>;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  return {
    busy,
    error,
    async run(act) {
      setBusy(true);
      setError(null);
      try {
        await act();
      } catch (failure) {
        if (alive.current) setError(failure);
      } finally {
        if (alive.current) setBusy(false);
      }
    },
  };
}
