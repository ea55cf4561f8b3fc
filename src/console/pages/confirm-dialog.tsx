// Asks for the password or a one-time code again. The frame renders it once, above every open dialog, which keeps its contents.
import { useState } from 'preact/hooks';
import { call, me } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { confirmation } from '../lib/confirm.js';
import { t } from '../lib/i18n.js';
import { FormDialog, useAction } from '../ui/dialog.js';
import { InputField, Segments } from '../ui/form.js';

const WAYS = ['password', 'code'] as const;

export function ConfirmDialog() {
  const question = useCell(confirmation);
  return question && <Ask settle={question.settle} />;
}

function Ask({ settle }: { settle: (isConfirmed: boolean) => void }) {
  const hasCode = useCell(me)?.totpEnabled === true;
  const [way, setWay] = useState<(typeof WAYS)[number]>('password');
  const [text, setText] = useState('');
  const work = useAction();
  return (
    <FormDialog
      title={t('confirm.title')}
      onClose={() => settle(false)}
      unsaved={null}
      action={t('contacts.confirm')}
      isReady={text !== ''}
      send={() => call('confirmSession', { body: { [way]: text } }).then(() => settle(true))}
      work={work}
    >
      <p>{t('confirm.text')}</p>
      {hasCode && (
        <Segments
          value={way}
          label={t('confirm.title')}
          onInput={(next) => {
            setWay(next);
            setText('');
            work.clear();
          }}
          options={WAYS.map((value) => ({ value, label: t(`login.${value}`) }))}
        />
      )}
      <InputField
        key={way}
        path={way}
        label={t(`login.${way}`)}
        hint={way === 'code' ? t('login.code.hintRecovery') : undefined}
        value={text}
        onInput={setText}
        autoFocus
        {...(way === 'password'
          ? { type: 'password', autocomplete: 'current-password' }
          : { maxLength: 11, autocomplete: 'one-time-code' })}
      />
    </FormDialog>
  );
}
