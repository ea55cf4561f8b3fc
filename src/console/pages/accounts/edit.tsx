// Edits one account. The form sends only changed fields, and first shows what somebody else changed meanwhile.
import { useState } from 'preact/hooks';
import type { Account, AccountChange } from '../../api-types.js';
import { ApiError, call } from '../../lib/api.js';
import { lengthError, tooManyBytes } from '../../lib/credential-text.js';
import { useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useUser } from '../../lib/rights.js';
import { Button } from '../../ui/basics.js';
import { Conflict, type Overtaken } from '../../ui/conflict.js';
import { Dialog, useAction } from '../../ui/dialog.js';
import { ExpiryField, type ExpiryText, expiryText, readExpiry } from '../../ui/expiry-field.js';
import { Area, Checkbox, Field, Input } from '../../ui/form.js';
import { notify } from '../../ui/toast.js';
import { AllowedClientsField, readAddresses, ScheduleField } from './fields/access-fields.js';
import { ContactFields, type ContactTexts, contactTexts, readContacts } from './fields/contact-fields.js';
import { fieldLabel, fieldValue } from './fields/field-words.js';
import { LIMIT_NAMES, LimitFields, type LimitTexts, limitTexts, readLimits } from './fields/limits.js';
import { readTags, TagField, tagsText } from './fields/tag-field.js';

interface Fields extends LimitTexts, ContactTexts {
  readonly username: string;
  readonly remarks: string;
  readonly tags: string;
  /** One address per line. */
  readonly addresses: string;
  readonly allowedClients: string;
  readonly schedule: string;
  readonly expiry: ExpiryText;
  readonly isEnabled: boolean;
}

const fieldsOf = (account: Account): Fields => ({
  username: account.username,
  remarks: account.remarks ?? '',
  tags: tagsText(account.tags),
  addresses: account.authorizedAddresses.join('\n'),
  allowedClients: account.allowedClients.join('\n'),
  schedule: account.schedule ?? '',
  expiry: expiryText(account.expiresAt),
  isEnabled: account.isEnabled,
  ...contactTexts(account.contacts),
  ...limitTexts(account.limits),
});

export function EditDialog({
  account,
  onClose,
  onDone,
}: {
  account: Account;
  onClose: () => void;
  onDone: () => void;
}) {
  // The page reads the account again and again. The form keeps editing the version that it opened.
  const [opened] = useState(account);
  const [overtakenBy, setOvertakenBy] = useState<Account | null>(null);
  const draft = useDraft(fieldsOf(opened), { guard: false });
  const { values, set } = draft;
  const maxAddresses = useUser()?.maxAuthorizedAddresses ?? 0;
  const { busy, error, run } = useAction();
  const change = changeOf(draft.changes);
  const isStale = error instanceof ApiError && error.code === 'changed-meanwhile' && overtakenBy !== null;
  const submit = () => {
    if (!change || !draft.isDirty || busy) return;
    void run(async () => {
      try {
        // Saving again after the warning is intended, so it sends the ETag of the newest version.
        const { etag } = isStale ? overtakenBy : opened;
        await call('changeAccount', { params: { id: opened.id }, body: change, etag });
      } catch (failure) {
        if (failure instanceof ApiError && failure.code === 'changed-meanwhile')
          setOvertakenBy(await call('getAccount', { params: { id: opened.id } }));
        throw failure;
      }
      notify(t('account.saved'));
      onDone();
    });
  };
  return (
    <Dialog
      title={t('account.editTitle', { name: opened.username })}
      wide
      onClose={onClose}
      error={isStale && change ? null : error}
      onSubmit={submit}
      unsaved={draft.isDirty ? 'typed' : null}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button
            type="submit"
            kind="primary"
            disabled={busy || !draft.isDirty || !change || tooManyBytes(values.username)}
          >
            {t(isStale ? 'account.saveAnyway' : 'account.save')}
          </Button>
        </>
      )}
    >
      <Field
        path="username"
        label={t('account.username')}
        hint={
          draft.changes.username === undefined
            ? undefined
            : t('account.rename.text', { n: opened.usage.sessions })
        }
        error={values.username.trim() === '' ? t('account.rename.empty') : lengthError(values.username)}
      >
        <Input value={values.username} onInput={(username) => set({ username })} />
      </Field>
      <Field path="remarks" label={t('account.remarks')}>
        <Area value={values.remarks} onInput={(remarks) => set({ remarks })} rows={2} />
      </Field>
      <TagField label={t('tags.title')} value={values.tags} onInput={(tags) => set({ tags })} />
      {opened.daysFromFirstLogin !== null && (
        <p class="notice">{t('expiry.waiting', { n: opened.daysFromFirstLogin })}</p>
      )}
      <ExpiryField value={values.expiry} onChange={(expiry) => set({ expiry })} />
      <Checkbox checked={values.isEnabled} onChange={(isEnabled) => set({ isEnabled })}>
        {t('create.enabled')}
      </Checkbox>
      {maxAddresses > 0 && (
        <Field
          path="authorizedAddresses"
          label={t('account.authorizedAddresses')}
          hint={t('account.authorizedAddresses.hint')}
        >
          <Area mono value={values.addresses} onInput={(addresses) => set({ addresses })} rows={2} />
        </Field>
      )}
      <AllowedClientsField
        value={values.allowedClients}
        onInput={(allowedClients) => set({ allowedClients })}
      />
      <ScheduleField value={values.schedule} onInput={(schedule) => set({ schedule })} />
      <h3>{t('contacts.title')}</h3>
      <p class="soft">{t('contacts.text')}</p>
      <ContactFields texts={values} onChange={set} />
      <h3>{t('limits.title')}</h3>
      <LimitFields texts={values} onChange={set} />
      {isStale && change && <Conflict fields={overtaken(opened, overtakenBy, change)} />}
    </Dialog>
  );
}

/** Returns the change to send; undefined while a changed field is invalid. */
function changeOf(changes: Partial<Fields>): AccountChange | undefined {
  const {
    username,
    remarks,
    expiry,
    isEnabled,
    tags: tagText,
    addresses,
    allowedClients,
    schedule,
  } = changes;
  const contacts = readContacts(changes);
  if (username?.trim() === '') return undefined;
  const tags = tagText === undefined ? undefined : readTags(tagText);
  const limits = readLimits(changes);
  const expiresAt = expiry === undefined ? undefined : readExpiry(expiry);
  if (tagText !== undefined && tags === undefined) return undefined;
  if (limits === undefined || (expiry !== undefined && expiresAt === undefined)) return undefined;
  return {
    ...(remarks === undefined ? {} : { remarks: remarks.trim() === '' ? null : remarks }),
    ...(username === undefined ? {} : { username }),
    ...(tags === undefined ? {} : { tags }),
    ...(addresses === undefined ? {} : { authorizedAddresses: readAddresses(addresses) }),
    ...(allowedClients === undefined ? {} : { allowedClients: readAddresses(allowedClients) }),
    ...(schedule === undefined ? {} : { schedule: schedule.trim() || null }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(isEnabled === undefined ? {} : { isEnabled }),
    ...(Object.keys(contacts).length === 0 ? {} : { contacts }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** Returns the fields that the other user or this form changes. */
function overtaken(opened: Account, theirs: Account, mine: AccountChange): Overtaken[] {
  const flat = (account: Account): Record<string, unknown> => ({
    username: account.username,
    remarks: account.remarks,
    tags: tagsText(account.tags),
    authorizedAddresses: account.authorizedAddresses.join(', '),
    allowedClients: account.allowedClients.join(', '),
    schedule: account.schedule,
    expiresAt: account.expiresAt,
    isEnabled: account.isEnabled,
    ...account.contacts,
    ...account.limits,
  });
  const [before, now] = [flat(opened), flat(theirs)];
  const ours: Record<string, unknown> = {
    ...mine,
    ...(mine.tags ? { tags: tagsText(mine.tags) } : {}),
    ...mine.contacts,
    ...mine.limits,
  };
  const own = [
    'username',
    'remarks',
    'tags',
    'authorizedAddresses',
    'allowedClients',
    'schedule',
    'expiresAt',
    'isEnabled',
    'email',
    'telegram',
    'language',
  ];
  return [...own, ...LIMIT_NAMES].flatMap((name) => {
    const isTheirs = before[name] !== now[name];
    if (!isTheirs && !(name in ours)) return [];
    return {
      label: fieldLabel(name),
      theirs: isTheirs ? fieldValue(name, now[name]) : null,
      mine: name in ours ? fieldValue(name, ours[name]) : null,
    };
  });
}
