// A dialog that asks for a code of the second factor before a change of it.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../../lib/i18n.js';
import { FormDialog } from '../../../ui/dialog.js';
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

export function CodeDialog({
  title,
  action,
  acceptsRecovery = false,
  act,
  onClose,
  children,
}: CodeDialogProps) {
  const [code, setCode] = useState('');
  const isRecovery = acceptsRecovery && code.replace(/[^a-z2-7]/gi, '').length === 10;
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      action={action}
      isReady={/^\d{6}$/.test(code) || isRecovery}
      send={() => act(code).then(onClose)}
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
    </FormDialog>
  );
}
