// Creates one account, or many by a pattern or a list.
import { useState } from 'preact/hooks';
import type { Credentials, NewAccounts } from '../../../api-types.js';
import { call, useUser } from '../../../lib/api.js';
import { useDraft } from '../../../lib/draft.js';
import { expiry } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { patchQuery } from '../../../lib/router.js';
import { Confirm, type DialogOf, FormDialog } from '../../../ui/dialog.js';
import { Field, Input, InputField, optionsOf, Segments } from '../../../ui/form.js';
import { NAMES } from '../fields/account-fields.js';
import { AccountFields } from '../fields/field-inputs.js';
import { readFields, textsOf } from '../fields/field-texts.js';
import { lengthError, tooManyBytes } from '../fields/field-words.js';
import { BudgetWords, PlanChoice } from '../fields/plans.js';
import type { HandedOver } from '../handover.js';
import { accountsOf, ManyNames, NO_MANY_TEXTS, readList, useNewPreview } from './create-many.js';

/** The credentials that the console shows once, after it created the accounts. */
export type Created = { readonly one: HandedOver } | { readonly many: readonly Credentials[] };

const NOTHING_TYPED = {
  ...textsOf({}),
  ...NO_MANY_TEXTS,
  password: '',
  /** The plan's name; '' is no plan. */
  plan: '',
};

/** The fields of every new account. A plan sets the expiry and the limits. */
const COMMON = ['isEnabled', ...NAMES.notes, ...NAMES.access, ...NAMES.contacts] as const;
const TERMS = ['expiresAt', ...NAMES.limits] as const;

export function CreateDialog({ of: mode, onClose, onDone }: DialogOf<'one' | 'many', Created>) {
  const draft = useDraft(NOTHING_TYPED);
  const { values, set, control } = draft;
  const { username, password, plan, source, pattern } = values;
  const [asking, setAsking] = useState(false);
  const change = readFields(values, plan === '' ? [...COMMON, ...TERMS] : COMMON);
  const common = change && (plan === '' ? change : { ...change, plan });
  const many: NewAccounts | null = common
    ? { ...common, ...(source === 'pattern' ? { pattern } : { list: accountsOf(readList(values)) }) }
    : null;
  // One account is previewed only for what it takes of a budget.
  const hasBudget = (useUser()?.budget ?? null) !== null;
  const one: NewAccounts | null =
    common && hasBudget && username !== '' ? { ...common, list: [{ username }] } : null;
  const preview = useNewPreview(mode === 'many' ? many : one);
  const budget = preview.result?.budget ?? null;
  const ready =
    (mode === 'one'
      ? username !== '' && !tooManyBytes(username) && !tooManyBytes(password)
      : (preview.result?.count ?? 0) > 0) && budget?.isShort !== true;
  const create = async () => {
    if (!common || !many) return;
    if (mode === 'one') {
      const body = { ...common, username, subscription: true, ...(password === '' ? {} : { password }) };
      onDone({ one: await call('createAccount', { body }) });
    } else onDone({ many: (await call('createAccounts', { body: { ...many, dryRun: false } })).created });
  };
  const expiresAt = change?.expiresAt ?? null;
  const isPast = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const fields = { texts: values, onChange: set };
  return (
    <FormDialog
      title={t('accounts.new')}
      wide
      onClose={onClose}
      unsaved={draft.isDirty ? 'typed' : null}
      action={mode === 'one' ? t('create.submit') : t('create.submitMany', { n: preview.result?.count ?? 0 })}
      isReady={ready && common !== undefined}
      send={async () => (isPast ? setAsking(true) : create())}
    >
      <Segments
        value={mode}
        label={t('create.how')}
        onInput={(next) => patchQuery({ new: next })}
        options={optionsOf(['one', 'many'], (how) => t(`create.${how}`))}
      />
      {mode === 'one' && (
        <div class="grid-2">
          <Field of="account.username" path="username" error={lengthError(username)}>
            <Input {...control('username')} autoFocus required />
          </Field>
          <InputField
            of="account.password"
            hint={t('create.password.hint')}
            error={lengthError(password)}
            {...control('password')}
            autocomplete="new-password"
          />
        </div>
      )}
      {mode === 'many' && <ManyNames values={values} onChange={set} preview={preview} />}
      <PlanChoice {...control('plan')} />
      {plan === '' && <AccountFields names={['expiresAt']} {...fields} />}
      <AccountFields names={[...NAMES.notes, 'isEnabled']} {...fields} />
      <details>
        <summary>{t('account.access')}</summary>
        <AccountFields names={NAMES.access} {...fields} />
      </details>
      <details>
        <summary>{t('contacts.title')}</summary>
        <p class="soft">{t(mode === 'many' ? 'contacts.many' : 'contacts.text')}</p>
        <AccountFields names={NAMES.contacts} {...fields} look="grid-2" />
      </details>
      {plan === '' && (
        <details>
          <summary>{t('limits.title')}</summary>
          <AccountFields names={NAMES.limits} {...fields} look="grid-2" />
        </details>
      )}
      <BudgetWords budget={budget} />
      {asking && (
        <Confirm
          title={t('create.past')}
          action={t('create.past.do')}
          onClose={() => setAsking(false)}
          act={create}
          question={t('create.past.text', { time: expiry(expiresAt) })}
        />
      )}
    </FormDialog>
  );
}
