// Dialogs. They use the browser's own dialog element, which keeps the focus inside. A stray key discards no typed text.
import type { ComponentChildren, RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Action, useAction } from '../lib/action.js';
import { type Right, useMay } from '../lib/api.js';
import { focusHeadingWhenLost } from '../lib/arrival.js';
import { useCell } from '../lib/cell.js';
import { askToDiscard, question, type Unsaved, useUnsaved } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { Button, type ButtonKind } from './basics.js';
import { InputField, submitting } from './form.js';
import { FormErrors } from './states.js';
import { notify } from './toast.js';

/** What a dialog about one object is given. `onDone` when it has done what it is for. */
export interface DialogOf<T, Result = void> {
  readonly of: T;
  readonly onClose: () => void;
  readonly onDone: (result: Result) => void;
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
  /** A function gets `close`, which closes the dialog and asks first when something would be lost. */
  readonly footer?: ComponentChildren | ((close: () => void) => ComponentChildren);
  readonly wide?: boolean;
  readonly isAlert?: boolean;
  /** Called when the user presses Enter in a field. */
  readonly onSubmit?: () => void;
  /** What would be lost if the dialog closed now; null: nothing. Left out: 'typed' as soon as a field was changed. */
  readonly unsaved?: Unsaved | null;
  /** Why the form could not be sent; null or left out: nothing failed. */
  readonly error?: unknown;
}

export function Dialog(props: DialogProps) {
  const { title, onClose, children, footer, wide, isAlert, onSubmit, unsaved, error = null } = props;
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  const [isTouched, setTouched] = useState(false);
  const unsavedNow = unsaved === undefined ? (isTouched ? 'typed' : null) : unsaved;
  useUnsaved(unsavedNow);
  const close = () => {
    if (unsavedNow === null) onClose();
    else askToDiscard(unsavedNow, onClose);
  };
  const watched = useModal(ref, close);
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : ''}
      role={isAlert ? 'alertdialog' : undefined}
      aria-labelledby={id}
      {...watched}
    >
      <form onInput={() => setTouched(true)} onSubmit={submitting(() => onSubmit?.())}>
        <header>
          <h2 id={id} tabIndex={-1}>
            {title}
          </h2>
          <Button icon="close" kind="quiet" onClick={close} label={t('dialog.close')} />
        </header>
        <div class="dialog-body stack">
          <FormErrors error={error}>{children}</FormErrors>
        </div>
        {footer && <footer>{typeof footer === 'function' ? footer(close) : footer}</footer>}
      </form>
    </dialog>
  );
}

/** The open dialogs, the topmost last. */
const modals: { readonly close: () => void }[] = [];

/** Esc closes the topmost dialog, wherever the focus is. Without this listener a browser closes a dialog when Esc comes twice. */
document.addEventListener(
  'keydown',
  (event) => {
    const top = modals.at(-1);
    // During the composition of a Chinese word, Esc ends the composition first.
    if (!top || event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    // The list below would clear its selection.
    event.stopImmediatePropagation();
    top.close();
  },
  true,
);

/** Opens a dialog with the focus on its first field, or else on its title. A browser would choose the button that closes it. */
function openOn(dialog: HTMLDialogElement): void {
  dialog.showModal();
  if (dialog.querySelector('[autofocus]')) return;
  const field = dialog.querySelector<HTMLElement>(
    '.dialog-body :is(input, select, textarea, .segments [aria-pressed=true]):enabled',
  );
  (field ?? dialog.querySelector('h2'))?.focus();
}

/** Opens the element as a modal dialog. Only the component that draws the element closes it. */
export function useModal(ref: RefObject<HTMLDialogElement | null>, close: () => void) {
  const currentClose = useRef(close);
  currentClose.current = close;
  // A layout effect closes the dialog before the element is removed: afterwards the focus could not return to its former element.
  useLayoutEffect(() => {
    const modal = { close: () => currentClose.current() };
    modals.push(modal);
    const dialog = ref.current;
    if (dialog) openOn(dialog);
    return () => {
      modals.splice(modals.indexOf(modal), 1);
      dialog?.close();
      // What the dialog did may have removed the button that opened it.
      requestAnimationFrame(focusHeadingWhenLost);
    };
  }, [ref]);
  return {
    onCancel(event: Event) {
      // A file chooser inside the dialog fires `cancel` too.
      if (event.target !== ref.current) return;
      event.preventDefault();
      close();
    },
    // The browser closed the dialog anyway (the back gesture of a phone) while its component still shows it.
    onClose() {
      if (!ref.current?.isConnected || ref.current.open) return;
      ref.current.showModal();
      close();
    },
  };
}

/** Asks whether to discard something unsaved. The frame renders it once, above every open dialog. */
export function UnsavedQuestion() {
  const open = useCell(question);
  if (!open) return null;
  const { id, what, discard } = open;
  const stay = () => question.set(null);
  return (
    <Dialog
      // Each question is a new dialog, so it opens above the dialogs that opened meanwhile.
      key={id}
      isAlert
      title={t(`unsaved.${what}`)}
      unsaved={null}
      onClose={stay}
      onSubmit={stay}
      footer={
        <>
          <Button
            kind="danger"
            onClick={() => {
              stay();
              discard();
            }}
          >
            {t(`unsaved.${what}.discard`)}
          </Button>
          {/* This button has the focus when the dialog opens: Enter and Esc both keep the unsaved data. */}
          <button type="submit" class="button primary" autofocus>
            {t(`unsaved.${what}.stay`)}
          </button>
        </>
      }
    >
      <p>{t(`unsaved.${what}.text`)}</p>
    </Dialog>
  );
}

interface FormDialogProps extends Omit<DialogProps, 'footer' | 'onSubmit' | 'error'> {
  /** The text of the button that sends the form. */
  readonly action: string;
  readonly danger?: boolean;
  /** The text that the user must type before the button works. */
  readonly typed?: string | undefined;
  /** Whether the form can be sent; left out: always. */
  readonly isReady?: boolean;
  readonly send: () => Promise<unknown>;
  /** The state of `send`, for a form that shows more of it than its failure. */
  readonly work?: Action;
}

/** A dialog that sends a form: while it waits, the button does nothing; when it fails, the dialog stays open and shows the reason. */
export function FormDialog(props: FormDialogProps) {
  const { action, danger = false, typed, isReady = true, send, work, children, ...dialog } = props;
  const own = useAction();
  const { busy, error, run } = work ?? own;
  const [text, setText] = useState('');
  const canSend = isReady && !busy && (typed === undefined || text === typed);
  return (
    <Dialog
      {...dialog}
      error={error}
      onSubmit={() => {
        if (canSend) void run(send);
      }}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={!canSend}>
            {action}
          </Button>
        </>
      )}
    >
      {children}
      {typed !== undefined && (
        <InputField
          label={t('dialog.typeToConfirm', { text: typed })}
          value={text}
          onInput={setText}
          inputMode={/^\d+$/.test(typed) ? 'numeric' : 'text'}
        />
      )}
    </Dialog>
  );
}

export function SecretDialog(props: Omit<DialogProps, 'onSubmit' | 'error'>) {
  const { footer, unsaved = 'secret', ...dialog } = props;
  return (
    <Dialog
      {...dialog}
      unsaved={unsaved}
      footer={
        <>
          {footer as ComponentChildren}
          <Button kind="primary" onClick={dialog.onClose}>
            {t(unsaved === null ? 'dialog.close' : 'credentials.kept')}
          </Button>
        </>
      }
    />
  );
}

interface ConfirmProps extends Omit<FormDialogProps, 'unsaved' | 'isReady' | 'send' | 'work'> {
  /** The question in a sentence; further parts follow it. */
  readonly question?: string;
  readonly act: () => Promise<unknown>;
  readonly done?: string;
  readonly after?: () => void;
}

export function Confirm({ question, children, act, done, after, ...dialog }: ConfirmProps) {
  const send = async () => {
    await act();
    if (done) notify(done);
    after?.();
    dialog.onClose();
  };
  return (
    <FormDialog {...dialog} unsaved={null} send={send}>
      {question && <p>{question}</p>}
      {children}
    </FormDialog>
  );
}

interface AskButtonProps extends Omit<ConfirmProps, 'title' | 'action' | 'onClose'> {
  readonly text: string;
  /** The title of the question; left out: the text of the button. */
  readonly title?: string;
  /** The right that shows the button; left out: everybody sees it. */
  readonly right?: Right;
  readonly kind?: ButtonKind;
  /** What the button does, when its text says something else. */
  readonly label?: string;
}

export function AskButton(props: AskButtonProps) {
  const { text, label, title = label ?? text, right, kind = 'plain', ...confirm } = props;
  const danger = kind.includes('danger');
  const [isAsking, setAsking] = useState(false);
  const mayAct = useMay(right);
  if (!mayAct) return null;
  return (
    <>
      <Button kind={kind} label={label} onClick={() => setAsking(true)}>
        {text}
      </Button>
      {isAsking && (
        <Confirm
          title={title}
          action={label ?? text}
          danger={danger}
          onClose={() => setAsking(false)}
          {...confirm}
        />
      )}
    </>
  );
}
