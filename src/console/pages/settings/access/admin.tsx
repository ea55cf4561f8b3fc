// The signed-in user's settings: password and second factor; and API tokens, with which programs authenticate. The console shows a token's secret once.
import { useState } from 'preact/hooks';
import { SCOPES, type Scope, type Token } from '../../../api-types.js';
import { useAction } from '../../../lib/action.js';
import { call, may, useUser } from '../../../lib/api.js';
import { toggled, useDraft } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { Ago, Button, Copied, Expiry, Tag } from '../../../ui/basics.js';
import { AskButton, type DialogOf, FormDialog, SecretDialog } from '../../../ui/dialog.js';
import { ExpiryField, expiryInDays, readExpiry } from '../../../ui/expiry-field.js';
import { Checkbox, type CheckboxProps, Field, Input, InputField, submitting } from '../../../ui/form.js';
import { Icon } from '../../../ui/icons.js';
import { type Column, column } from '../../../ui/list/columns.js';
import { ShortList } from '../../../ui/list/list.js';
import { Empty, FormErrors } from '../../../ui/states.js';
import { notify } from '../../../ui/toast.js';
import { Totp } from './second-factor.js';

export function AdminSettings() {
  return (
    <div class="columns">
      <PasswordForm />
      <Totp />
    </div>
  );
}

const NEW_PASSWORD = { type: 'password', autocomplete: 'new-password', maxLength: 255 } as const;

function PasswordForm() {
  const { values, control, reset } = useDraft({ current: '', next: '', again: '' });
  const { current, next, again } = values;
  const [revokeTokens, setRevokeTokens] = useState(true);
  const { busy, error, run } = useAction();
  const isGiven = useUser()?.isPasswordGiven === true;
  const differs = again !== '' && again !== next;
  const ready = current !== '' && next !== '' && next === again && !busy;
  const submit = () => {
    if (!ready) return;
    void run(async () => {
      await call('setAdminPassword', { body: { current, next, revokeTokens } });
      notify(t('admin.passwordChanged'));
      reset();
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
        <Field of="admin.current" path="current">
          <Input {...control('current')} type="password" autocomplete="current-password" />
        </Field>
        <InputField of="admin.next" {...control('next')} {...NEW_PASSWORD} />
        <InputField of="admin.again" isWrong={differs} {...control('again')} {...NEW_PASSWORD} />
      </FormErrors>
      <RevokeTokens checked={revokeTokens} onChange={setRevokeTokens}>
        {t('admin.revokeTokens')}
      </RevokeTokens>
      <div class="row">
        <Button type="submit" kind="primary" disabled={!ready}>
          {t('admin.change')}
        </Button>
      </div>
    </form>
  );
}

/** Whether a new password also revokes the API tokens of its user. What stays valid otherwise is said. */
export function RevokeTokens(box: CheckboxProps) {
  return (
    <div class="stack tight">
      <Checkbox {...box} />
      {!box.checked && <small class="warn-text">{t('admin.revokeTokens.off')}</small>}
    </div>
  );
}

export function TokenSettings() {
  const tokens = useLoad('listTokens', {}, { topics: ['tokens'] });
  return (
    <ShortList
      of={tokens}
      rowsOf={({ items }) => items}
      text={t('tokens.text')}
      add={t('tokens.new')}
      empty={<Empty icon="keyboard" title={t('tokens.empty')} text={t('tokens.empty.text')} />}
      table={() => ({ label: t('settings.tokens'), columns: columns(tokens.reload), id: (one) => one.id })}
      dialog={(dialog) => <CreateDialog {...dialog} />}
    />
  );
}

function columns(reload: () => void): readonly Column<Token>[] {
  return [
    column('name', 'tokens.name', {}, (one) => <span class="strong">{one.name}</span>),
    column('prefix', 'tokens.prefix', { width: 104, from: 560 }, (one) => <code>{one.prefix}…</code>),
    column('scopes', 'tokens.scopes', { from: 800 }, (one) => (
      <span title={one.scopes.join('\n')}>
        {one.scopes.map((scope) => (
          <Tag key={scope}>{scope}</Tag>
        ))}
      </span>
    )),
    column('expires', 'account.expiresAt', { width: 112 }, (one) => <Expiry at={one.expiresAt} short />),
    column('used', 'tokens.lastUsed', { width: 200, from: 1000 }, (one) => (
      <>
        <Ago at={one.lastUsedAt} />{' '}
        {one.lastUsedFrom !== null && <code class="soft">{one.lastUsedFrom}</code>}
      </>
    )),
    column('revoke', '', { width: 80, align: 'end' }, (one) => (
      <AskButton
        kind="link danger"
        text={t('tokens.revoke')}
        act={() => call('revokeToken', { params: { id: one.id } })}
        done={t('tokens.revoked')}
        after={reload}
        question={t('tokens.revoke.text', { name: one.name })}
      />
    )),
  ];
}

/** Creates a token, and shows its secret once. */
function CreateDialog({ onClose, onDone }: DialogOf<Token | null>) {
  const [preset] = useState(() => ({ name: '', scopes: [] as Scope[], expiry: expiryInDays(90) }));
  const { values, isDirty, set, control } = useDraft(preset);
  const { name, scopes } = values;
  const expiresAt = readExpiry(values.expiry);
  const ready = name.trim() !== '' && scopes.length > 0 && expiresAt !== undefined;
  const [secret, setSecret] = useState<string | null>(null);
  const create = async () =>
    setSecret((await call('createToken', { body: { name, scopes, expiresAt } })).secret);
  if (secret !== null)
    return (
      <SecretDialog title={t('tokens.created')} onClose={onDone}>
        <p class="warn-text">{t('tokens.once')}</p>
        <Copied text={secret} />
        <pre>{`curl -H "Authorization: Bearer ${secret}" \\\n  ${location.origin}/api/v1/accounts`}</pre>
      </SecretDialog>
    );
  return (
    <FormDialog
      title={t('tokens.new')}
      onClose={onClose}
      unsaved={isDirty ? 'typed' : null}
      action={t('create.submit')}
      isReady={ready}
      send={create}
    >
      <Field of="tokens.name" path="name">
        <Input {...control('name')} autoFocus maxLength={100} placeholder="billing" />
      </Field>
      <fieldset class="field">
        <legend>{t('tokens.scopes')}</legend>
        <div class="grid-2 scopes">
          {SCOPES.filter(may).map((scope) => (
            <Checkbox
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(on) => set({ scopes: [...toggled(new Set(scopes), scope, on)] })}
            >
              <code>{scope}</code>
            </Checkbox>
          ))}
        </div>
      </fieldset>
      <ExpiryField {...control('expiry')} />
    </FormDialog>
  );
}
