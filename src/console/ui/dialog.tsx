// Dialogs: the browser's own, so that focus stays inside. What was typed into one is not lost by a stray key.
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useCell } from '../lib/cell.js';
import { t } from '../lib/i18n.js';
import { askToDiscard, question, type Unsaved, useUnsaved } from '../lib/unsaved.js';
import { Button } from './basics.js';
import { Failure } from './states.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Given as a function, it gets what closes the dialog and asks first when something would be lost. */
  readonly footer?: ComponentChildren | ((close: () => void) => ComponentChildren);
  readonly wide?: boolean;
  /** Enter in a field does this. */
  readonly onSubmit?: () => void;
  /**
   * What would be lost if it closed now; null: nothing. Left out: what was typed, as soon as any field was changed.
   */
  readonly unsaved?: Unsaved | null;
}

export function Dialog({ title, onClose, children, footer, wide = false, onSubmit, unsaved }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const [isTouched, setTouched] = useState(false);
  const losing = unsaved === undefined ? (isTouched ? 'typed' : null) : unsaved;
  useUnsaved(losing);
  const close = () => {
    if (losing === null) onClose();
    else askToDiscard(losing, onClose);
  };
  const watched = useModal(ref, close);
  return (
    <dialog ref={ref} class={wide ? 'wide' : ''} aria-labelledby="dialog-title" {...watched}>
      <form
        onInput={() => setTouched(true)}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          <h2 id="dialog-title">{title}</h2>
          <Button icon="close" kind="quiet" onClick={close} label={t('dialog.close')} />
        </header>
        <div class="dialog-body">{children}</div>
        {footer && <footer>{typeof footer === 'function' ? footer(close) : footer}</footer>}
      </form>
    </dialog>
  );
}

/** What is open over the page, the topmost last. */
const modals: { readonly close: () => void }[] = [];

/** Esc asks the topmost to close, wherever the focus is: left alone, a browser closes a dialog when Esc comes twice. */
document.addEventListener(
  'keydown',
  (event) => {
    const top = modals.at(-1);
    // Esc ends the composition of a Chinese word first.
    if (!top || event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    top.close();
  },
  true,
);

/** Opens the element over everything else, and lets only its owner close it. */
export function useModal(ref: RefObject<HTMLDialogElement | null>, close: () => void) {
  const asked = useRef(close);
  asked.current = close;
  // Before the element goes: afterwards the focus could not return to where it was.
  useLayoutEffect(() => {
    const modal = { close: () => asked.current() };
    modals.push(modal);
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      modals.splice(modals.indexOf(modal), 1);
      dialog?.close();
    };
  }, [ref]);
  return {
    onCancel(event: Event) {
      // A file chooser inside says `cancel` too.
      if (event.target !== ref.current) return;
      event.preventDefault();
      close();
    },
    // Closed by the browser all the same (the back gesture of a phone): its owner still shows it.
    onClose() {
      if (!ref.current?.isConnected || ref.current.open) return;
      ref.current.showModal();
      close();
    },
  };
}

/** Asks whether something unsaved may go. Stands once in the frame, above whatever is open. */
export function UnsavedQuestion() {
  const asked = useCell(question);
  // A new question is a new dialog: it stands above what was opened meanwhile.
  return asked && <Discard key={asked.id} what={asked.what} discard={asked.discard} />;
}

function Discard({ what, discard }: { what: Unsaved; discard: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const stay = () => question.set(null);
  const watched = useModal(ref, stay);
  return (
    <dialog ref={ref} role="alertdialog" aria-labelledby="discard-title" {...watched}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          stay();
        }}
      >
        <header>
          <h2 id="discard-title">{t(`unsaved.${what}`)}</h2>
        </header>
        <div class="dialog-body">
          <p>{t(`unsaved.${what}.text`)}</p>
        </div>
        <footer>
          <Button
            kind="danger"
            onClick={() => {
              stay();
              discard();
            }}
          >
            {t(`unsaved.${what}.discard`)}
          </Button>
          {/* Focused when it opens: Enter and Esc both keep what there is. */}
          <button type="submit" class="button primary" autofocus>
            {t(`unsaved.${what}.stay`)}
          </button>
        </footer>
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
      unsaved={null}
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
  /** Forgets the last failure. */
  clear(): void;
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
    clear: () => setError(null),
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
