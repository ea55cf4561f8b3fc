// A dialog that asks for a code of the second factor before a change of it.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../../lib/i18n.js';
import { Button } from '../../../ui/basics.js';
import { Dialog, useAction } from '../../../ui/dialog.js';
import { Field, Input } from '../../../ui/form.js';

interface CodeDialogProps {
  readonly title: string;
  readonly action: string;
  /** A recovery code is accepted too. */
  readonly acceptsRecovery?: boolean;
  readonly act: (code: string) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** When the action fails, the dialog stays open and shows the reason. */
export function CodeDialog({
  title,
  action,
  acceptsRecovery = false,
  act,
  onClose,
  children,
}: CodeDialogProps) {
  const [code, setCode] = useState('');
  const { busy, error, run } = useAction();
  const isRecovery = acceptsRecovery && code.replace(/[^a-z2-7]/gi, '').length === 10;
  const ready = (/^\d{6}$/.test(code) || isRecovery) && !busy;
  const submit = () => {
    if (ready) void run(async () => act(code).then(onClose));
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      error={error}
      onSubmit={submit}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready}>
            {action}
          </Button>
        </>
      )}
    >
      {children}
      <Field
        path="code"
        label={t('login.code')}
        hint={t(acceptsRecovery ? 'login.code.hintRecovery' : 'login.code.hint')}
      >
        <Input
          value={code}
          onInput={setCode}
          maxLength={acceptsRecovery ? 11 : 6}
          autocomplete="one-time-code"
          autoFocus
        />
      </Field>
    </Dialog>
  );
}
