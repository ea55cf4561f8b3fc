// Asks for the password or a one-time code again. The frame renders it once, above every open dialog, which keeps its contents.
import { useState } from 'preact/hooks';
import { call, me } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { confirmation } from '../lib/confirm.js';
import { t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { Field, Input, Segments } from '../ui/form.js';

const WAYS = ['password', 'code'] as const;

export function ConfirmDialog() {
  const question = useCell(confirmation);
  return question && <Ask settle={question.settle} />;
}

function Ask({ settle }: { settle: (isConfirmed: boolean) => void }) {
  const hasCode = useCell(me)?.totpEnabled === true;
  const [way, setWay] = useState<(typeof WAYS)[number]>('password');
  const [text, setText] = useState('');
  const { busy, error, run, clear } = useAction();
  const ready = text !== '' && !busy;
  const submit = () => {
    if (ready)
      void run(async () => call('confirmSession', { body: { [way]: text } }).then(() => settle(true)));
  };
  return (
    <Dialog
      title={t('confirm.title')}
      onClose={() => settle(false)}
      error={error}
      onSubmit={submit}
      unsaved={null}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready}>
            {t('confirm.action')}
          </Button>
        </>
      )}
    >
      <p>{t('confirm.text')}</p>
      {hasCode && (
        <Segments
          value={way}
          label={t('confirm.title')}
          onChange={(next) => {
            setWay(next);
            setText('');
            clear();
          }}
          options={WAYS.map((value) => ({ value, label: t(`login.${value}`) }))}
        />
      )}
      <Field
        key={way}
        path={way}
        label={t(`login.${way}`)}
        hint={way === 'code' ? t('login.code.hintRecovery') : undefined}
      >
        <Input
          value={text}
          onInput={setText}
          autoFocus
          {...(way === 'password'
            ? { type: 'password', autocomplete: 'current-password' }
            : { maxLength: 11, autocomplete: 'one-time-code' })}
        />
      </Field>
    </Dialog>
  );
}
