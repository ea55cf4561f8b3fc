// Changes one account. The form of its fields sends only the changed ones, and first shows what somebody else changed meanwhile. Its
// password, generated, chosen or the present one if it is known, is shown with the texts to send to the player.
import { useState } from 'preact/hooks';
import type { Account, AccountChange } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call, callWithEtag, useUser } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { type DialogOf, FormDialog } from '../../ui/dialog.js';
import { Checkbox, Field, Input, InputField, Segments } from '../../ui/form.js';
import { Conflict, type Overtaken, useSaving } from '../../ui/settings-form.js';
import { notify } from '../../ui/toast.js';
import { NAMES } from './fields/account-fields.js';
import { AccountFields } from './fields/field-inputs.js';
import { readFields, textsOf, valueIn } from './fields/field-texts.js';
import { fieldLabel, fieldValue, lengthError, tooManyBytes } from './fields/field-words.js';
import type { HandedOver } from './handover.js';

export function EditDialog({ of: account, onClose, onDone }: DialogOf<Account>) {
  // The page reads the account again and again. The form keeps editing the version that it opened.
  const [opened] = useState(account);
  const draft = useDraft(textsOf(opened));
  const { values, set, control } = draft;
  const maxAddresses = useUser()?.maxAuthorizedAddresses ?? 0;
  const params = { id: opened.id };
  const saving = useSaving(() => callWithEtag('getAccount', { params }));
  const { theirs } = saving;
  const change = readFields(draft.changes);
  const save = async () => {
    // Saving again after the warning is intended, so it sends the ETag of the newest version.
    const { etag } = theirs?.answer ?? opened;
    await call('changeAccount', { params, body: change ?? {}, etag });
    notify(t('settings.saved'));
    onDone();
  };
  const fields = { texts: values, onChange: set };
  return (
    <FormDialog
      title={t('account.editTitle', { name: opened.username })}
      wide
      onClose={onClose}
      unsaved={draft.isDirty ? 'typed' : null}
      action={t(theirs ? 'account.saveAnyway' : 'settings.save')}
      isReady={draft.isDirty && change !== undefined && !tooManyBytes(values.username)}
      send={save}
      work={saving}
    >
      <InputField
        of="account.username"
        hint={
          draft.changes.username === undefined
            ? undefined
            : t('account.rename.text', { n: opened.usage.sessions })
        }
        error={values.username.trim() === '' ? t('account.rename.empty') : lengthError(values.username)}
        {...control('username')}
      />
      <AccountFields names={NAMES.notes} {...fields} rows={2} />
      {opened.daysFromFirstLogin !== null && (
        <p class="notice">{t('expiry.waiting', { n: opened.daysFromFirstLogin })}</p>
      )}
      <AccountFields names={['expiresAt', 'isEnabled']} {...fields} />
      {maxAddresses > 0 && <AccountFields names={['authorizedAddresses']} {...fields} />}
      <AccountFields names={NAMES.access} {...fields} />
      <h3>{t('contacts.title')}</h3>
      <p class="soft">{t('contacts.text')}</p>
      <AccountFields names={NAMES.contacts} {...fields} look="grid-2" />
      <h3>{t('limits.title')}</h3>
      <AccountFields names={NAMES.limits} {...fields} look="grid-2" />
      {theirs && change && <Conflict fields={overtaken(opened, theirs.answer, change)} />}
    </FormDialog>
  );
}

function overtaken(opened: Account, theirs: Account, mine: AccountChange): Overtaken[] {
  return NAMES.all.flatMap((name) => {
    const [before, now, own] = [opened, theirs, mine].map((of) => valueIn(of, name));
    const isTheirs = JSON.stringify(before) !== JSON.stringify(now);
    if (!isTheirs && own === undefined) return [];
    return {
      label: fieldLabel(name),
      theirs: isTheirs ? fieldValue(name, now) : null,
      mine: own === undefined ? null : fieldValue(name, own),
    };
  });
}

type Way = 'random' | 'chosen' | 'known';
const WAYS: readonly Way[] = ['random', 'chosen', 'known'];

export function PasswordDialog({ of: account, onClose, onDone }: DialogOf<Account, HandedOver>) {
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
      send={async () => onDone(await ask())}
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
        <Field of="account.password" path="password" error={lengthError(password)}>
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
