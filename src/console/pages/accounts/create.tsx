// Creates one account, or many by a pattern or a list.
import { useState } from 'preact/hooks';
import type { Credentials, CredentialsInFormats, NewAccounts } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { lengthError, tooManyBytes } from '../../lib/credential-text.js';
import { useDraft } from '../../lib/draft.js';
import { expiry } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useUser } from '../../lib/rights.js';
import { patchQuery } from '../../lib/router.js';
import { Button } from '../../ui/basics.js';
import { Confirm, Dialog, useAction } from '../../ui/dialog.js';
import { ExpiryField, type ExpiryText, NEVER, readExpiry } from '../../ui/expiry-field.js';
import { Checkbox, Field, Input, Segments } from '../../ui/form.js';
import { accountsOf, ManyNames, type ManyTexts, readList, usePreview } from './create-many.js';
import { AllowedClientsField, readAddresses, ScheduleField } from './fields/access-fields.js';
import { BudgetWords } from './fields/budget.js';
import { ContactFields, type ContactTexts, NO_CONTACT_TEXTS, readContacts } from './fields/contact-fields.js';
import { LimitFields, type LimitTexts, NO_LIMIT_TEXTS, readLimits } from './fields/limits.js';
import { PlanChoice } from './fields/plan-choice.js';
import { readTags, TagField } from './fields/tag-field.js';

/** The credentials that the console shows once, after it created the accounts. */
export type Created = { readonly one: CredentialsInFormats } | { readonly many: readonly Credentials[] };

interface CreateProps {
  readonly mode: 'one' | 'many';
  readonly onClose: () => void;
  readonly onCreated: (credentials: Created) => void;
}

interface NewFields extends LimitTexts, ContactTexts, ManyTexts {
  readonly username: string;
  readonly password: string;
  readonly remarks: string;
  readonly tags: string;
  /** The plan's name; '' is no plan. */
  readonly plan: string;
  readonly expiry: ExpiryText;
  readonly isEnabled: boolean;
  readonly allowedClients: string;
  readonly schedule: string;
}

const NOTHING_TYPED: NewFields = {
  username: '',
  password: '',
  remarks: '',
  tags: '',
  plan: '',
  expiry: NEVER,
  isEnabled: true,
  allowedClients: '',
  schedule: '',
  source: 'pattern',
  pattern: 'player{001-020}',
  list: '',
  separator: '',
  heading: '',
  ...NO_LIMIT_TEXTS,
  ...NO_CONTACT_TEXTS,
};

export function CreateDialog({ mode, onClose, onCreated }: CreateProps) {
  const draft = useDraft(NOTHING_TYPED, { guard: false });
  const { values, set } = draft;
  const { username, password, remarks, isEnabled, source, pattern } = values;
  const { busy, error, run } = useAction();
  const [asking, setAsking] = useState(false);
  const expiresAt = readExpiry(values.expiry);
  const limits = readLimits(values);
  const tags = readTags(values.tags);
  const common =
    expiresAt === undefined || limits === undefined || tags === undefined
      ? null
      : {
          isEnabled,
          remarks: remarks.trim() === '' ? null : remarks,
          tags,
          allowedClients: readAddresses(values.allowedClients),
          contacts: readContacts(values),
          schedule: values.schedule.trim() || null,
          // A plan sets the expiry and the limits.
          ...(values.plan === '' ? { expiresAt, limits } : { plan: values.plan }),
        };
  const many: NewAccounts | null = common && {
    ...common,
    ...(source === 'pattern' ? { pattern } : { list: accountsOf(readList(values)) }),
  };
  // One account is previewed only for what it takes of a budget.
  const hasBudget = (useUser()?.budget ?? null) !== null;
  const one: NewAccounts | null =
    common && hasBudget && username !== '' ? { ...common, list: [{ username }] } : null;
  const preview = usePreview(mode === 'many' ? many : one);
  const budget = preview.result?.budget ?? null;
  const ready =
    (mode === 'one'
      ? username !== '' && !tooManyBytes(username) && !tooManyBytes(password)
      : (preview.result?.count ?? 0) > 0) && budget?.isShort !== true;
  const create = async () => {
    if (!common || !many) return;
    if (mode === 'one') {
      const created = await call('createAccount', {
        body: { ...common, username, ...(password === '' ? {} : { password }) },
      });
      onCreated({ one: created.credentials });
    } else onCreated({ many: (await call('createAccounts', { body: { ...many, dryRun: false } })).created });
  };
  const submit = () => {
    if (!ready || busy || !common) return;
    const isPast = values.plan === '' && expiresAt != null && Date.parse(expiresAt) <= Date.now();
    if (isPast) setAsking(true);
    else void run(create);
  };
  return (
    <Dialog
      title={t('accounts.new')}
      wide
      onClose={onClose}
      error={error}
      onSubmit={submit}
      unsaved={draft.isDirty ? 'typed' : null}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready || busy || !common}>
            {mode === 'one' ? t('create.submit') : t('create.submitMany', { n: preview.result?.count ?? 0 })}
          </Button>
        </>
      )}
    >
      <Segments
        value={mode}
        label={t('create.how')}
        onChange={(next) => patchQuery({ new: next })}
        options={[
          { value: 'one', label: t('create.one') },
          { value: 'many', label: t('create.many') },
        ]}
      />
      {mode === 'one' && (
        <div class="grid-2">
          <Field path="username" label={t('account.username')} error={lengthError(username)}>
            <Input value={username} onInput={(text) => set({ username: text })} autoFocus required />
          </Field>
          <Field
            path="password"
            label={t('account.password')}
            hint={t('create.password.hint')}
            error={lengthError(password)}
          >
            <Input value={password} onInput={(text) => set({ password: text })} autocomplete="new-password" />
          </Field>
        </div>
      )}
      {mode === 'many' && <ManyNames values={values} onChange={set} preview={preview} />}
      <PlanChoice value={values.plan} onChange={(plan) => set({ plan })} />
      {values.plan === '' && <ExpiryField value={values.expiry} onChange={(expiry) => set({ expiry })} />}
      <Field path="remarks" label={t('account.remarks')}>
        <Input value={remarks} onInput={(text) => set({ remarks: text })} />
      </Field>
      <TagField label={t('tags.title')} value={values.tags} onInput={(text) => set({ tags: text })} />
      <Checkbox checked={isEnabled} onChange={(on) => set({ isEnabled: on })}>
        {t('create.enabled')}
      </Checkbox>
      <details>
        <summary>{t('account.access')}</summary>
        <AllowedClientsField
          value={values.allowedClients}
          onInput={(allowedClients) => set({ allowedClients })}
        />
        <ScheduleField value={values.schedule} onInput={(schedule) => set({ schedule })} />
      </details>
      <details>
        <summary>{t('contacts.title')}</summary>
        <p class="soft">{t(mode === 'many' ? 'contacts.many' : 'contacts.text')}</p>
        <ContactFields texts={values} onChange={set} />
      </details>
      {values.plan === '' && (
        <details>
          <summary>{t('limits.title')}</summary>
          <LimitFields texts={values} onChange={set} />
        </details>
      )}
      <BudgetWords budget={budget} />
      {asking && (
        <Confirm
          title={t('create.past')}
          action={t('create.past.do')}
          onClose={() => setAsking(false)}
          act={create}
        >
          <p>{t('create.past.text', { time: expiry(expiresAt ?? null) })}</p>
        </Confirm>
      )}
    </Dialog>
  );
}
