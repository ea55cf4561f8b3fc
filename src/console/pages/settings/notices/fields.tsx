// The fields of the form of notices.
import type { Draft } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { Checkbox, Field, Input } from '../../../ui/form.js';
import type { NoticeFields } from './form.js';

type TextName = { [K in keyof NoticeFields]: NoticeFields[K] extends string ? K : never }[keyof NoticeFields];

/** The fields whose names differ from those of the request. */
const PATHS: Partial<Record<TextName, string>> = {
  mailTo: 'email.to',
  telegramUrl: 'telegram.baseUrl',
  wecomUrl: 'wecom.baseUrl',
};

/** A text of the form. */
export function NoticeText({
  draft,
  name,
  label,
  placeholder,
  error,
  hint,
}: {
  draft: Draft<NoticeFields>;
  name: Exclude<TextName, 'digestHour' | 'language' | 'security'>;
  label: string;
  placeholder?: string;
  error?: string | undefined;
  hint?: string;
}) {
  return (
    <Field path={PATHS[name] ?? name} label={label} error={error} hint={hint}>
      <Input
        value={draft.values[name]}
        onInput={(text) => draft.set({ [name]: text })}
        placeholder={placeholder ?? ''}
      />
    </Field>
  );
}

/** A secret: what is saved is never shown, what is typed replaces it. */
export function NoticeSecret({
  draft,
  name,
  label,
  isSaved,
}: {
  draft: Draft<NoticeFields>;
  name: 'secret' | 'password' | 'token' | 'key';
  label: string;
  isSaved: boolean;
}) {
  return (
    <Field path={name} label={label} hint={t(isSaved ? 'notices.secretKept' : 'notices.secretNone')}>
      <Input
        type="password"
        autocomplete="new-password"
        value={draft.values[name]}
        onInput={(text) => draft.set({ [name]: text })}
        placeholder={isSaved ? '••••••••' : ''}
      />
    </Field>
  );
}

type FlagName = {
  [K in keyof NoticeFields]: NoticeFields[K] extends boolean ? K : never;
}[keyof NoticeFields];

export function Receivers({ draft, names }: { draft: Draft<NoticeFields>; names: readonly FlagName[] }) {
  return (
    <div class="row">
      {names.map((name) => (
        <Checkbox key={name} checked={draft.values[name]} onChange={(on) => draft.set({ [name]: on })}>
          {t(name.endsWith('Players') ? 'notices.toPlayers' : 'notices.toOperator')}
        </Checkbox>
      ))}
    </div>
  );
}
