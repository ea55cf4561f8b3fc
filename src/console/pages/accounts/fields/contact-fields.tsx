// The contacts of accounts as form fields: where players are reminded of expiry and quota, and in which language.
import type { Account } from '../../../api-types.js';
import { type TextKey, t } from '../../../lib/i18n.js';
import { Choices } from '../../../ui/choices.js';
import { Field, Input, Select } from '../../../ui/form.js';

type Contacts = Account['contacts'];
export type ContactName = keyof Contacts;
const NAMES = ['email', 'telegram', 'language'] as const satisfies readonly ContactName[];

/** The fields as typed; an empty one means none. */
export interface ContactTexts {
  readonly email: string;
  readonly telegram: string;
  readonly language: 'zh' | 'en' | '';
}

export const NO_CONTACT_TEXTS: ContactTexts = { email: '', telegram: '', language: '' };

export const contactTexts = ({ email, telegram, language }: Contacts): ContactTexts => ({
  email: email ?? '',
  telegram: telegram ?? '',
  language: language ?? '',
});

/** Returns the contacts that the texts describe; a text that is undefined stays out. */
export function readContacts({ email, telegram, language }: Partial<ContactTexts>): Partial<Contacts> {
  return {
    ...(email === undefined ? {} : { email: email.trim() || null }),
    ...(telegram === undefined ? {} : { telegram: telegram.trim() || null }),
    ...(language === undefined ? {} : { language: language || null }),
  };
}

interface Props {
  readonly texts: ContactTexts;
  readonly onChange: (patch: Partial<ContactTexts>) => void;
}

export function ContactFields({ texts, onChange }: Props) {
  return (
    <div class="limit-fields">
      {NAMES.map((name) => (
        <Field path={`contacts.${name}`} key={name} label={t(`contacts.${name}`)}>
          <ContactInput name={name} texts={texts} onChange={onChange} />
        </Field>
      ))}
    </div>
  );
}

/** Contacts that may stay unchanged: only a ticked one has a field. */
export function ContactChoices({
  texts,
  onChange,
  chosen,
  onChoose,
}: Props & {
  readonly chosen: ReadonlySet<ContactName>;
  readonly onChoose: (chosen: ReadonlySet<ContactName>) => void;
}) {
  return (
    <div class="limit-fields">
      <Choices
        names={NAMES}
        labelOf={(name) => t(`contacts.${name}`)}
        chosen={chosen}
        onChoose={onChoose}
        fieldOf={(name) => (
          <Field path={`contacts.${name}`} label={t(`contacts.${name}`)} hideLabel>
            <ContactInput name={name} texts={texts} onChange={onChange} />
          </Field>
        )}
      />
    </div>
  );
}

function ContactInput({ name, texts, onChange }: Props & { readonly name: ContactName }) {
  if (name !== 'language')
    return (
      <Input
        value={texts[name]}
        onInput={(text) => onChange({ [name]: text })}
        maxLength={name === 'email' ? 254 : 64}
      />
    );
  const languages: readonly { value: ContactTexts['language']; label: TextKey }[] = [
    { value: '', label: 'contacts.language.none' },
    { value: 'zh', label: 'contacts.language.zh' },
    { value: 'en', label: 'contacts.language.en' },
  ];
  return (
    <Select
      value={texts.language}
      onChange={(language) => onChange({ language })}
      options={languages.map(({ value, label }) => ({ value, label: t(label) }))}
    />
  );
}
