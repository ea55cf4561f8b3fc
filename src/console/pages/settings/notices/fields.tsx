// The fields of the form of notices.
import type { NoticeSettings } from '../../../api-types.js';
import type { Draft } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { Checkbox, Field, Input } from '../../../ui/form.js';
import { type NoticeFields, noticeField } from './form.js';

export interface Part {
  readonly draft: Draft<NoticeFields>;
  readonly saved: NoticeSettings;
}

/** A text, a number or a secret. What is stored of a secret is never shown, what is typed replaces it. */
export function NoticeInput({ path, draft: { values, set }, saved }: Part & { readonly path: string }) {
  const { label, hint, placeholder, read, wrong, isStored } = noticeField(path);
  const typed = values[path] ?? '';
  const isSaved = isStored?.(saved);
  const hintOf = () => isStored && t(isSaved ? 'notices.secretKept' : 'notices.secretNone');
  return (
    <Field
      path={path}
      label={t(label)}
      hint={hint ? t(hint) : hintOf()}
      error={wrong && read(typed) === undefined ? wrong() : undefined}
    >
      <Input
        value={typed}
        onInput={(text) => set({ [path]: text })}
        placeholder={isSaved ? '••••••••' : (placeholder ?? '')}
        {...(isStored ? { type: 'password', autocomplete: 'new-password' } : {})}
      />
    </Field>
  );
}

export function NoticeFlag({
  path,
  draft: { values, set },
}: Pick<Part, 'draft'> & { readonly path: string }) {
  return (
    <Checkbox checked={values[path] === 'true'} onChange={(on) => set({ [path]: String(on) })}>
      {t(noticeField(path).label)}
    </Checkbox>
  );
}
