// Shows or sets the password of an account, and the texts to send to the player: a generated password, a chosen one, or the present
// one if it is known.
import { useState } from 'preact/hooks';
import type { Account } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { FormDialog, useAction } from '../../ui/dialog.js';
import { Checkbox, Field, Input, Segments } from '../../ui/form.js';
import { lengthError, tooManyBytes } from './fields/field-words.js';
import type { HandedOver } from './handover.js';

type Way = 'random' | 'chosen' | 'known';
const WAYS: readonly Way[] = ['random', 'chosen', 'known'];

interface PasswordDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
  readonly onShown: (handedOver: HandedOver) => void;
}

export function PasswordDialog({ account, onClose, onShown }: PasswordDialogProps) {
  const { id, username, usage } = account;
  const link = useLoad('getSubscription', { params: { id } }).data;
  const [replaceSubscription, setReplaceSubscription] = useState(false);
  const [way, setWay] = useState<Way>('random');
  const [password, setPassword] = useState('');
  const work = useAction();
  const ready = way === 'random' || (password !== '' && !tooManyBytes(password));
  const ask = async (): Promise<HandedOver> => {
    const params = { id };
    if (way === 'known')
      return { account, credentials: await call('getCredentials', { params, body: { password } }) };
    const body = { replaceSubscription, ...(way === 'chosen' ? { password } : {}) };
    const { subscription, ...credentials } = await call('resetPassword', { params, body });
    return { account, credentials, subscription };
  };
  return (
    <FormDialog
      title={t('account.password.title', { name: username })}
      wide
      onClose={onClose}
      unsaved={password === '' ? null : 'typed'}
      action={t(way === 'known' ? 'account.password.show' : 'account.password.set')}
      isReady={ready}
      send={async () => onShown(await ask())}
      work={work}
    >
      <Segments
        value={way}
        label={t('account.password')}
        onInput={(next) => {
          setWay(next);
          work.clear();
        }}
        options={WAYS.map((each) => ({ value: each, label: t(`account.password.${each}`) }))}
      />
      <p>{t(`account.password.${way}.text`, { name: username, n: usage.sessions })}</p>
      {way !== 'random' && (
        <Field path="password" label={t('account.password')} error={lengthError(password)}>
          <Input value={password} onInput={setPassword} autoFocus />
        </Field>
      )}
      {way !== 'known' && link && (link.createdAt !== null || link.hasFormerAddress) && (
        <div class="stack tight">
          <Checkbox checked={replaceSubscription} onChange={setReplaceSubscription}>
            {t('account.password.replaceLink')}
          </Checkbox>
          {!replaceSubscription && <small class="warn-text">{t('account.password.linkStays')}</small>}
        </div>
      )}
    </FormDialog>
  );
}
