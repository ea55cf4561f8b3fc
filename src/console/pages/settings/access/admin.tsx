// The signed-in user's settings: password, second factor, display settings of this browser, signing out.
import { useState } from 'preact/hooks';
import { call, me, signOut } from '../../../lib/api.js';
import { useCell } from '../../../lib/cell.js';
import { leave, useUnsaved } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { Button, Card } from '../../../ui/basics.js';
import { useAction } from '../../../ui/dialog.js';
import { Checkbox, Field, Input, submitting } from '../../../ui/form.js';
import { Icon } from '../../../ui/icons.js';
import { FormErrors } from '../../../ui/states.js';
import { LookChoices } from '../../../ui/switches.js';
import { notify } from '../../../ui/toast.js';
import { Totp } from './second-factor.js';

export function AdminSettings() {
  return (
    <div class="columns">
      <PasswordForm />
      <div class="stack">
        <Totp />
        <Here />
      </div>
    </div>
  );
}

function PasswordForm() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const [revokeTokens, setRevokeTokens] = useState(true);
  const { busy, error, run } = useAction();
  const isGiven = useCell(me)?.isPasswordGiven === true;
  useUnsaved(current !== '' || next !== '' || again !== '' ? 'typed' : null);
  const differs = again !== '' && again !== next;
  const ready = current !== '' && next !== '' && next === again && !busy;
  const submit = () => {
    if (!ready) return;
    void run(async () => {
      await call('setAdminPassword', { body: { current, next, revokeTokens } });
      notify(t('admin.passwordChanged'));
      setCurrent('');
      setNext('');
      setAgain('');
    });
  };
  return (
    <form class="card stack" onSubmit={submitting(submit)}>
      <h2>{t('admin.password')}</h2>
      <p class="soft">{t('admin.password.text')}</p>
      {isGiven && (
        <p class="notice" role="note">
          <Icon name="warn" />
          <span>{t('admin.password.given')}</span>
        </p>
      )}
      <FormErrors error={error}>
        <Field path="current" label={t('admin.current')}>
          <Input value={current} onInput={setCurrent} type="password" autocomplete="current-password" />
        </Field>
        <Field path="next" label={t('admin.next')}>
          <Input value={next} onInput={setNext} type="password" autocomplete="new-password" maxLength={255} />
        </Field>
        <Field label={t('admin.again')} error={differs ? t('admin.differs') : undefined}>
          <Input
            value={again}
            onInput={setAgain}
            type="password"
            autocomplete="new-password"
            maxLength={255}
          />
        </Field>
      </FormErrors>
      <RevokeTokens label={t('admin.revokeTokens')} checked={revokeTokens} onChange={setRevokeTokens} />
      <div class="row">
        <Button type="submit" kind="primary" disabled={!ready}>
          {t('admin.change')}
        </Button>
      </div>
    </form>
  );
}

function Here() {
  const who = useCell(me);
  const { busy, run } = useAction();
  const out = () => leave(() => void run(signOut));
  return (
    <Card title={t('display.title')} look="stack">
      <div class="row wrap">
        <LookChoices />
      </div>
      <div class="row">
        <span class="soft grow">
          {t('display.signedInAs', { name: who?.username ?? '', address: who?.address ?? '' })} · v
          {who?.version}
        </span>
        <Button icon="exit" disabled={busy} onClick={out}>
          {t('display.signOut')}
        </Button>
      </div>
    </Card>
  );
}

/** Whether a new password also revokes the API tokens of its user. What stays valid otherwise is said. */
interface RevokeTokensProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function RevokeTokens({ label, checked, onChange }: RevokeTokensProps) {
  return (
    <div class="stack tight">
      <Checkbox checked={checked} onChange={onChange}>
        {label}
      </Checkbox>
      {!checked && <small class="warn-text">{t('admin.revokeTokens.off')}</small>}
    </div>
  );
}
