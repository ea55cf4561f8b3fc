// Where the player of an account is reached, and in which language.

export const CONTACT_LANGUAGES = ['zh', 'en'] as const;

export interface Contacts {
  readonly email: string | null;
  /** Id of the chat with the operator's bot, or the name of a channel. */
  readonly telegram: string | null;
  /** null: the operator's language of notices. */
  readonly language: (typeof CONTACT_LANGUAGES)[number] | null;
}

/** Most accounts have none: they share this. */
export const NO_CONTACTS: Contacts = { email: null, telegram: null, language: null };

const MAIL_CHARS = 254;
const MAIL = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u;

/** One address without a name beside it (RFC 5321 §4.5.3.1.3: 254 characters). */
export function isMailAddress(text: string): boolean {
  return text.length <= MAIL_CHARS && MAIL.test(text);
}

/** The id of a chat or group, or the name of a public channel. */
export function isChatId(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) || /^@[A-Za-z]\w{3,63}$/.test(text);
}

/** The first part that cannot be used; null: all can. */
export function wrongContact({ email, telegram }: Partial<Contacts>): keyof Contacts | null {
  if (email != null && !isMailAddress(email)) return 'email';
  return telegram != null && !isChatId(telegram) ? 'telegram' : null;
}

/** With a change, of which undefined parts stay. */
export function changedContacts(contacts: Contacts, change: Partial<Contacts> | undefined): Contacts {
  if (change === undefined) return contacts;
  const { email, telegram, language } = change;
  const next = {
    email: email === undefined ? contacts.email : email,
    telegram: telegram === undefined ? contacts.telegram : telegram,
    language: language === undefined ? contacts.language : language,
  };
  return Object.values(next).every((value) => value === null) ? NO_CONTACTS : next;
}

/** For the audit log, which has only the beginning of an address: `a…@example.com`, `12…`. */
export function maskedContacts({ email, telegram, language }: Contacts): string {
  const at = email?.lastIndexOf('@') ?? 0;
  return [
    ...(email === null ? [] : [`${email.slice(0, 1)}…${email.slice(at)}`]),
    ...(telegram === null ? [] : [`${telegram.slice(0, 2)}…`]),
    ...(language === null ? [] : [language]),
  ].join(', ');
}
